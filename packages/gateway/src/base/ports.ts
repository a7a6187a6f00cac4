/** The source of time. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
};

/** The source of new identifiers. */
export type MintId = (
  kind: "thread" | "run" | "message" | "toolCall" | "event" | "session",
) => string;

/** The system clock. */
export const SYSTEM_CLOCK: Clock = { now: () => Date.now() };
