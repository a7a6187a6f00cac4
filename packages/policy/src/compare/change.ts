import type { Effect } from "./effect.js";

/** One difference in meaning. */
export type PolicyChange = {
  /** The setting that differs, in the terms of the document: `call.allow`, `outbound submit`. */
  readonly setting: string;
  readonly kind: "added" | "removed" | "widened" | "narrowed" | "changed";
  readonly effect: Effect;
  /** The old and the new value, without the setting: `200 → 1000`. */
  readonly says: string;
};

/** The changes in one block of the document. */
export type BlockDiff = {
  readonly block: string;
  readonly verdict: Effect;
  readonly changes: readonly PolicyChange[];
};

/** The differences between two policies; `verdict` covers all of them. */
export type PolicyDiff = {
  readonly verdict: Effect;
  /** Blocks with a change, in evaluation order. */
  readonly blocks: readonly BlockDiff[];
};
