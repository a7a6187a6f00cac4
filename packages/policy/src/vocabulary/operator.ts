/**
 * The `agent_id` of operator actions. Browsers and agents choose the names and targets of events;
 * the gateway sets the source of an event, and no agent can be configured under this name.
 */
export const OPERATOR_AGENT = "<operator>";

/**
 * The rule of a run that an operator ended, which has the `agent_id` of its agent; only a gateway
 * sets rule names.
 */
export const OPERATOR_STOP_RULE = "gateway/operator-stop";
