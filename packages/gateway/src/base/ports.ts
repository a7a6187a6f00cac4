/** Time comes in through this door. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
};

/** Fresh identifiers come in through this door. */
export type MintId = (
  kind: "thread" | "run" | "message" | "toolCall" | "event" | "session",
) => string;

/** The machine's own clock. */
export const SYSTEM_CLOCK: Clock = { now: () => Date.now() };
