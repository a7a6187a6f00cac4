/** A request for some of the events that a capability still allows. */
export type BudgetRequest = {
  /** The capability's id. */
  readonly id: string;
  /** Its `max_events`. */
  readonly maxEvents: number;
  /** Its expiry in seconds; the row can be removed after that. */
  readonly expiresAt: number;
  /** The number of requested events. */
  readonly wanted: number;
  /** The number of events used since the last request. */
  readonly opened: number;
};

/** The granted events, and the capability's total over all gateways. */
export type BudgetGrant = {
  readonly given: number;
  /** Events granted to any gateway and not returned. */
  readonly taken: number;
  /** Events known to be used; gateways may return the rest of `taken`. */
  readonly opened: number;
};

/** Events that were granted and not used. */
export type BudgetReturn = {
  readonly id: string;
  readonly unused: number;
  readonly opened: number;
};

/**
 * Grants the events of capabilities.
 *
 * Over all gateways, granted events that were not returned never exceed `maxEvents`. A resolved
 * `take` survives a crash, so that no event is granted twice.
 */
export type BudgetStore = {
  take(request: BudgetRequest): Promise<BudgetGrant>;
  giveBack(returned: readonly BudgetReturn[]): Promise<void>;
  close(): Promise<void>;
};
