import type { CountAnswer, CountedLimit } from "./count.js";
import type { HeldCount } from "./held-count.js";
import type { VelocityStore } from "./velocity-store.js";

/** Counts asked about in one go: they are locked together for a moment. */
const MAX_BATCH = 200;

/** What is going to be asked about one count, and who wants to hear the answer. */
type Entry = {
  readonly limit: CountedLimit;
  wanted: number;
  readonly listeners: ((answer: CountAnswer | undefined) => void)[];
};

/**
 * Asks the store about many counts at once, one batch after the other, and says with it what became of leases. An
 * answer that does not come is `undefined`.
 */
export class Exchange {
  readonly #store: VelocityStore;
  readonly #gateway: string;
  readonly #heard: (didAnswer: boolean) => void;
  readonly #now: () => number;
  readonly #queue = new Map<HeldCount, Entry>();
  #isSending = false;
  #leases = 0;

  constructor(
    store: VelocityStore,
    gateway: string,
    heard: (didAnswer: boolean) => void,
    now: () => number,
  ) {
    this.#store = store;
    this.#gateway = gateway;
    this.#heard = heard;
    this.#now = now;
  }

  /** Asks for so many events; resolves in any case. */
  ask(held: HeldCount, limit: CountedLimit, wanted: number): Promise<CountAnswer | undefined> {
    return new Promise((resolve) => {
      const entry = this.#queue.get(held) ?? { limit, wanted: 0, listeners: [] };
      entry.wanted = Math.max(entry.wanted, wanted);
      entry.listeners.push(resolve);
      this.#queue.set(held, entry);
      if (!this.#isSending) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    // What is asked for in one turn goes together.
    await Promise.resolve();
    while (this.#queue.size > 0) await this.#sendSome();
    this.#isSending = false;
  }

  async #sendSome(): Promise<void> {
    const now = this.#now();
    const batch = [...this.#queue]
      .slice(0, MAX_BATCH)
      .map(([held, { limit, wanted, listeners }]) => {
        this.#queue.delete(held);
        held.retire(now, Number.NEGATIVE_INFINITY);
        this.#leases += 1;
        const lease = `${this.#gateway}/${this.#leases}`;
        const question = { key: held.key, limit, wanted, lease, settled: held.settled(now) };
        return { held, question, listeners };
      });
    let answers: readonly CountAnswer[] | undefined;
    try {
      answers = await this.#store.exchange(batch.map(({ question }) => question));
    } catch {
      answers = undefined;
    }
    this.#heard(answers !== undefined);
    batch.forEach(({ held, question, listeners }, index) => {
      const answer = answers?.[index];
      if (answer !== undefined) {
        held.forget(question.settled);
        if (question.wanted > 0) held.take(question.lease, answer, now);
      } else if (question.wanted > 0) held.disown(question.lease, now);
      for (const listener of listeners) listener(answer);
    });
  }
}
