/** What a start may find missing beside a log, if the operator says so: what it guards against goes unnoticed once. */
export const MISSING_PARTS = ["checkpoint", "ledger"] as const;

/** The parts whose absence the operator accepts for this start. */
export type AcceptedMissing = ReadonlySet<(typeof MISSING_PARTS)[number]>;

/** Nothing may be missing. */
export const NOTHING_MISSING: AcceptedMissing = new Set();
