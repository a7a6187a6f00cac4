import { canonicalJson, isJsonObject, SmallMap } from "@countersign/core";
import type { CompiledPolicy } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import type { StoredRow } from "../store/keyed-store.js";
import { stateOf } from "../thread/thread-state.js";
import type { ThreadState } from "../thread/thread-state.js";
import type { Finding } from "./finding.js";
import { reviewAnswers } from "./interrupt-answers.js";
import { reviewInput } from "./review.js";
import type { InputReview } from "./review.js";

/** The property with which CopilotKit's client asks a model for suggestions, in canonical JSON. */
const TOOL_CHOICE = canonicalJson({
  type: "function",
  function: { name: "copilotkitSuggest" },
});

/** A request for suggestions without the property that every such request has: the policy does not need to list it. */
export function withoutToolChoice(input: RunAgentInput): RunAgentInput {
  const { forwardedProps: props } = input;
  if (!isJsonObject(props)) return input;
  const { toolChoice, ...others } = props;
  if (toolChoice === undefined || canonicalJson(toolChoice) !== TOOL_CHOICE) return input;
  return { ...input, forwardedProps: others };
}

/** The state in which the run of a suggestion begins: the conversation of its source, without anything to click. */
export function suggestionState(rows: readonly StoredRow[]): ThreadState {
  return { ...stateOf(rows), surfaces: new SmallMap() };
}

/**
 * Compares a request for suggestions with the thread whose messages it repeats. It answers no question of that thread, so each question stays
 * open there, and the agent may not act on it here.
 */
export function reviewSuggestion(
  input: RunAgentInput,
  source: ThreadState,
  policy: CompiledPolicy,
  now: number,
  written?: readonly string[],
): InputReview {
  const asked = { ...source, interrupts: new SmallMap<string, never>() };
  const { approvals } = reviewAnswers({ ...input, resume: [] }, source, now, true);
  return {
    ...reviewInput(input, asked, policy, now, written),
    approvals: policy.request.mode("approval") === "off" ? [] : approvals,
    keepsInterrupts: true,
  };
}

const REMEDY =
  "send a message of the conversation through this gateway, and ask for suggestions after its answer: a suggestion repeats messages that this gateway delivered to the same person within the last hour";

/** Adds the fix to the findings of a request for suggestions whose conversation this gateway does not find. */
export function withSuggestionRemedy(findings: readonly Finding[]): Finding[] {
  return findings.map((finding) =>
    finding.code === "ERR_HISTORY_INVENTED" ? { ...finding, remedy: REMEDY } : finding,
  );
}
