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
