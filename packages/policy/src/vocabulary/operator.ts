/**
 * The `agent_id` of what operators do. Names and targets of events are chosen by browsers and agents; whom an event is
 * from is the gateway's to say, and no agent can be configured under this name.
 */
export const OPERATOR_AGENT = "<operator>";

/** The rule of a run that an operator ended, which has the `agent_id` of its agent; only a gateway names rules. */
export const OPERATOR_STOP_RULE = "gateway/operator-stop";
