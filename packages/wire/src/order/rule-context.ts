import type { RunAgentInput } from "../model/input.js";
import type { RecentNames } from "./recent-names.js";
import type { OrderRuleId } from "./rules.js";
import type { Owner, RunState } from "./run-state.js";

/** The state that the rules of an event type read, and their report function. */
export type RuleContext = {
  /** The run the event falls into. */
  run: RunState;
  eventNumber: number;
  readonly input: RunAgentInput | undefined;
  /** The threadId of the first run on the stream. */
  firstThreadId: string | undefined;
  /** Whether some run carried the input's runId. */
  requestedRunSeen: boolean;
  /** RunIds of the stream. */
  readonly runIds: RecentNames<true>;
  /** Tool calls of the input and of earlier runs, with their names where known. */
  readonly earlierCalls: RecentNames<string | undefined>;
  report(rule: OrderRuleId, subject?: string, detail?: string): void;
};

/** V10: a tag that is there must equal the owner; an absent one never disagrees. */
export function requireOwner(
  context: RuleContext,
  tag: Owner,
  record: { owner: Owner } | undefined,
  subject: string,
): void {
  if (tag !== undefined && record !== undefined && record.owner !== tag) {
    context.report("owner/mismatch", subject);
  }
}
