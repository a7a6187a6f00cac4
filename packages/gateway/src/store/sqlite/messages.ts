/** A call to the ledger's thread. */
export type LedgerCall = {
  readonly id: number;
  readonly method: "write" | "claim" | "forget" | "close";
  readonly parameters: readonly unknown[];
};

/** Its answer. */
export type LedgerAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: string };
