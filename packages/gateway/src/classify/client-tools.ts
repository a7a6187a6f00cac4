import type { RunAgentInput } from "@countersign/wire";

const NONE: ReadonlySet<string> = new Set();

/** Names of the tools the client declared; one set for all that declare none. */
export function clientToolsOf({ tools = [] }: RunAgentInput): ReadonlySet<string> {
  return tools.length === 0 ? NONE : new Set(tools.map(({ name }) => name));
}
