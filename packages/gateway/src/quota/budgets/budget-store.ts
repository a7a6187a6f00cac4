/** A question for some of the events that a capability may still open. */
export type BudgetRequest = {
  /** The capability's id. */
  readonly id: string;
  /** Its `max_events`. */
  readonly maxEvents: number;
  /** When it expires, in seconds: from then on nobody needs to remember it. */
  readonly expiresAt: number;
  /** How many are asked for. */
  readonly wanted: number;
  /** How many were opened since the last time that this was said. */
  readonly opened: number;
};

/** What was given, and how the capability stands then over all gateways. */
export type BudgetGrant = {
  readonly given: number;
  /** Events given to anybody and not given back. */
  readonly taken: number;
  /** Events known to have been opened; the rest of what was taken may come back. */
  readonly opened: number;
};

/** Events that were taken and not needed. */
export type BudgetReturn = {
  readonly id: string;
  readonly unused: number;
  readonly opened: number;
};

/**
 * Where the events of capabilities are given out.
 *
 * Over all who ask, what was given and not given back is never more than `maxEvents`; and what `take` resolved with is
 * known after a crash, so that nobody is given it again.
 */
export type BudgetStore = {
  take(question: BudgetRequest): Promise<BudgetGrant>;
  giveBack(returned: readonly BudgetReturn[]): Promise<void>;
  close(): Promise<void>;
};
