import type { VelocityLimit } from "@countersign/policy";
import { grantCount } from "../quota/velocity/count.js";
import type { CountResult, VelocityCount } from "../quota/velocity/count.js";
import type { KeyedCountRequest, VelocityStore } from "../quota/velocity/velocity-store.js";

/** Sixteen a minute in a session, of whatever comes. */
export const FEW: VelocityLimit = {
  id: "few",
  scope: "session",
  kind: "window",
  max: 16,
  capacity: 16,
  windowMs: 60_000,
  match: () => true,
};

/** Counts in memory for several gateways of one test, by the test's clock. */
export class MemoryVelocity {
  readonly counts = new Map<string, VelocityCount>();
  /** Questions so far, each with who asked. */
  readonly asked: (KeyedCountRequest & { readonly gateway: string })[] = [];
  isAway = false;
  /** Milliseconds until who asks knows that it is away, as of one that swallows packets. */
  silenceMs = 0;
  /** How many counts each exchange was about that found it away. */
  readonly missed: number[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Answers at once. */
  answer(gateway: string, questions: readonly KeyedCountRequest[]): CountResult[] {
    return questions.map((question) => {
      this.asked.push({ ...question, gateway });
      const before = this.counts.get(question.key);
      const { count, answer } = grantCount(before, question, gateway, this.#now());
      // As a row would keep it.
      this.counts.set(question.key, JSON.parse(JSON.stringify(count)) as VelocityCount);
      return answer;
    });
  }

  /** The store of one gateway. */
  of(gateway: string): VelocityStore {
    return {
      exchange: async (questions) => {
        if (this.isAway) {
          this.missed.push(questions.length);
          const { silenceMs } = this;
          if (silenceMs > 0) await new Promise((resolve) => setTimeout(resolve, silenceMs));
          throw new Error("away");
        }
        return this.answer(gateway, questions);
      },
      sweep: async () => {},
      close: async () => {},
    };
  }
}
