import type { KeyPeriod } from "../keys/verify-history.js";
import type { BundleReport } from "../verify/bundle.js";

/** The start parameters of a worker. */
export type WorkerSetup = {
  readonly directory: string;
  readonly size: number;
  readonly periods: ReadonlyMap<string, KeyPeriod> | undefined;
};

/** The bundle to verify, and its lines of `receipts.jsonl`. */
export type WorkerRequest = { readonly index: number; readonly lines: Uint8Array | undefined };

/** The reply of a worker. */
export type WorkerReply =
  | { readonly report: BundleReport }
  | { readonly index: number; readonly error: unknown };
