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
