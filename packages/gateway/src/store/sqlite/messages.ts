/** A call to the store's worker thread. */
export type StoreCall = {
  readonly id: number;
  readonly method: "write" | "claim" | "forget" | "close";
  readonly parameters: readonly unknown[];
};

/** The worker's response. */
export type StoreResponse =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: string };
