import { digestOf } from "../../thread/digest.js";
import { MAX_DECLARED_TOOLS } from "../../thread/thread-state.js";
import type { Run } from "../../event/run.js";

export type ClientTools = { has(name: string): boolean };

type ToolFacts = Pick<Run, "input" | "earlier" | "policy">;

/**
 * The tools of the client: those that any request of the thread declared. A request or a stream that declares no tools does not give them
 * to the agent. If a thread has more tools than the gateway keeps, every tool that the policy does not give to the agent counts as the
 * client's.
 */
export function clientToolsOf({ input, earlier, policy }: ToolFacts): ClientTools {
  const declared = new Set((input.tools ?? []).map(({ name }) => name));
  const isUnknown = earlier.tools.size >= MAX_DECLARED_TOOLS;
  const { isServerTool } = policy.request.tools;
  return {
    has: (name) =>
      declared.has(name) || earlier.tools.has(digestOf(name)) || (isUnknown && !isServerTool(name)),
  };
}
