/** A call to the ledger's worker thread. */
export type LedgerCall = {
  readonly id: number;
  readonly method: "write" | "claim" | "forget" | "close";
  readonly parameters: readonly unknown[];
};

/** The worker's response. */
export type LedgerResponse =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: string };
