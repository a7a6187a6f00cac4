/**
 * What an event does to the person's screen, from the gentlest to the one that asks most of them.
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

/** What an event does to the person's screen. */
export type Classification = (typeof CLASSIFICATIONS)[number];
