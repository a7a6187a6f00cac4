/** What the gateway tells its operator. */
export type Journal = {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
};

/** Tells nobody. */
export const SILENT_JOURNAL: Journal = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
