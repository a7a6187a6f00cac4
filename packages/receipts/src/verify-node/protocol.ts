import type { KeyPeriod } from "../keys/verify-history.js";
import type { BundleReport } from "../verify/bundle.js";

/** What a worker is started with. */
export type WorkerSetup = {
  readonly directory: string;
  readonly size: number;
  readonly periods: ReadonlyMap<string, KeyPeriod> | undefined;
};

/** Which bundle to verify, and the lines of `receipts.jsonl` that belong to it. */
export type WorkerQuestion = { readonly index: number; readonly lines: Uint8Array | undefined };

/** What a worker answers. */
export type WorkerAnswer =
  | { readonly report: BundleReport }
  | { readonly index: number; readonly error: unknown };
