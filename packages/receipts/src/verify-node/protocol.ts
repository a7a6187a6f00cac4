import type { KeyPeriod } from "../keys/verify-history.js";
import type { BundleReport } from "../verify/bundle.js";

/** What a worker is started with. */
export type WorkerSetup = {
  readonly directory: string;
  readonly size: number;
  readonly periods: ReadonlyMap<string, KeyPeriod> | undefined;
};

/** What a worker answers to the number of a bundle. */
export type WorkerAnswer =
  | { readonly report: BundleReport }
  | { readonly index: number; readonly error: unknown };
