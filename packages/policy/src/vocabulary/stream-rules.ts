/**
 * Rules about a stream that need more than its order: the thread's history or the client's state. A
 * policy names them under `ag_ui_order.rules` beside those of the run automaton. All of them are
 * errors.
 */
export const STREAM_RULES = {
  "subagent/not-announced":
    "an event, a listed message or an interrupt is attributed to a subagent that did not start in this run or thread",
  "subagent/ended": "something new is attributed to a subagent that has ended in this run",
  "state/patch-failed": "a STATE_DELTA does not apply to the state that the client has",
  "activity/patch-failed": "an ACTIVITY_DELTA does not apply to the activity that the client has",
} as const;

/** The name of a rule about a stream. */
export type StreamRuleId = keyof typeof STREAM_RULES;
