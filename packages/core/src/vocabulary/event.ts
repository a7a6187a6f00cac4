/**
 * The effects of an event on the user interface, from the least to the most demanding.
 *
 * The order is the order of strictness: a claim may move an event to the right, never to the left.
 */
export const CLASSIFICATIONS = [
  "display",
  "alert",
  "mutate",
  "create",
  "destroy",
  "navigate",
  "submit",
] as const;

/** The effect of an event on the user interface. */
export type Classification = (typeof CLASSIFICATIONS)[number];

/** The semantic types of events, except `custom`, which has a name. */
export const PLAIN_EVENT_TYPES = [
  "text_stream",
  "state_update",
  "navigation",
  "lifecycle",
  "form_action",
  "notification",
  "error",
] as const;

/** The semantic type of an event, except `custom`. */
export type PlainEventType = (typeof PLAIN_EVENT_TYPES)[number];

/** An event type in receipts and envelopes: a type outside the vocabulary is named in an object. */
export type NamedEventType = PlainEventType | { custom: string };

/** The direction of an event: to the person (`outbound`) or to the agent (`inbound`). */
export type Direction = "outbound" | "inbound";

/** Whether a decision is applied (`enforce`) or only recorded (`observe`). */
export type PolicyMode = "observe" | "enforce";

/**
 * The `agent_id` of operator actions. Browsers and agents choose the names and targets of events;
 * the gateway sets the source of an event, and no agent can be configured under this name.
 */
export const OPERATOR_AGENT = "<operator>";
