import type { Effect } from "./effect.js";

/** One difference in meaning. */
export type PolicyChange = {
  /** What differs, in the words of the document: `call.allow`, `outbound submit`. */
  readonly setting: string;
  readonly kind: "added" | "removed" | "widened" | "narrowed" | "changed";
  readonly effect: Effect;
  /** What it was and what it is, without the setting: `200 → 1000`. */
  readonly says: string;
};

/** What changed in one block of the document. */
export type BlockDiff = {
  readonly block: string;
  readonly verdict: Effect;
  readonly changes: readonly PolicyChange[];
};

/** What lies between two policies; `verdict` is about everything together. */
export type PolicyDiff = {
  readonly verdict: Effect;
  /** Blocks with a change, in the order they are asked. */
  readonly blocks: readonly BlockDiff[];
};
