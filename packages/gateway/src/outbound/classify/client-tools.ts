import { digestOf } from "../../thread/digest.js";
import { MAX_DECLARED_TOOLS } from "../../thread/thread-state.js";
import type { Run } from "../../event/run.js";

/** Says which tools are the client's. */
export type ClientTools = { has(name: string): boolean };

type ToolFacts = Pick<Run, "input" | "earlier" | "policy">;

/**
 * The tools of the client: those that any request of the thread declared, so that a request or a stream that declares
 * none makes none of them the agent's own. Of a thread with too many nobody knows all, so every tool is the client's.
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
