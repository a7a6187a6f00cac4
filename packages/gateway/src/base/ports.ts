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

/** The gateway's log for its operator. */
export type Journal = {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
};

/** Logs nothing. */
export const SILENT_JOURNAL: Journal = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
