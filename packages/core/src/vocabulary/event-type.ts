/** What an event semantically does, except `custom`, which carries a name. */
export const PLAIN_EVENT_TYPES = [
  "text_stream",
  "state_update",
  "navigation",
  "lifecycle",
  "form_action",
  "notification",
  "error",
] as const;

/** What an event semantically does, except `custom`. */
export type PlainEventType = (typeof PLAIN_EVENT_TYPES)[number];

/** An event type as receipts and envelopes carry it: a type outside the vocabulary is named in an object. */
export type NamedEventType = PlainEventType | { custom: string };
