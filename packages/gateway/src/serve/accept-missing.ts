/**
 * Files next to a log whose absence the operator may accept at a start. What the file protects against goes
 * undetected that one time.
 */
export const MISSING_PARTS = ["checkpoint", "ledger"] as const;

/** The parts whose absence the operator accepts for this start. */
export type AcceptedMissing = ReadonlySet<(typeof MISSING_PARTS)[number]>;

/** No part may be missing. */
export const NOTHING_MISSING: AcceptedMissing = new Set();
