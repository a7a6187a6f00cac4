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
