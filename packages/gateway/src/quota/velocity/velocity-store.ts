import type { CountAnswer, CountQuestion } from "./count.js";

/** A question, and the name of the count it is about. */
export type KeyedQuestion = CountQuestion & { readonly key: string };

/** Where gateways count together. Of each count at most one question at once; answers are in their order. */
export type VelocityStore = {
  exchange(questions: readonly KeyedQuestion[]): Promise<CountAnswer[]>;
  /** Removes counts that are empty. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};
