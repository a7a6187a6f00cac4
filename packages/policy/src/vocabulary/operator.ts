export { OPERATOR_AGENT } from "@countersign/core";

/**
 * The rule of a run that an operator ended, which has the `agent_id` of its agent; only a gateway
 * sets rule names.
 */
export const OPERATOR_STOP_RULE = "gateway/operator-stop";
