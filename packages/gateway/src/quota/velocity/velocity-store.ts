import type { CountResult, CountRequest } from "./count.js";

/** A question, and the name of the count it is about. */
export type KeyedCountRequest = CountRequest & { readonly key: string };

/** Where gateways count together. Of each count at most one question at once; answers are in their order. */
export type VelocityStore = {
  exchange(questions: readonly KeyedCountRequest[]): Promise<CountResult[]>;
  /** Removes counts that are empty. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};
