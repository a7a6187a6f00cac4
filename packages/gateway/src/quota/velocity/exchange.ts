import type { CountResult, CountedLimit } from "./count.js";
import type { HeldCount } from "./held-count.js";
import type { VelocityStore } from "./velocity-store.js";

/** Counts asked about in one go: they are locked together for a moment. */
const MAX_BATCH = 200;

/** What is going to be asked about one count, and who wants to hear the answer. */
type Entry = {
  readonly limit: CountedLimit;
  wanted: number;
  readonly listeners: ((answer: CountResult | undefined) => void)[];
};

/**
 * Asks the store about many counts at once, one batch after the other, and says with it what became of leases. An
 * answer that does not come is `undefined`.
 *
 * Questions that runs are held for go first; what is only said fills up what they leave of a batch. Said later, or
 * never, it counts as given out for longer, and then as used: never as less.
 */
export class Exchange {
  readonly #store: VelocityStore;
  readonly #gateway: string;
  readonly #heard: (didAnswer: boolean) => boolean;
  readonly #now: () => number;
  /** A count is in one of the two. */
  readonly #questions = new Map<HeldCount, Entry>();
  readonly #giveBacks = new Map<HeldCount, Entry>();
  #isSending = false;
  #leases = 0;

  /** `heard` is told of each batch; whether the store is given up on, so that nothing else that waits is sent. */
  constructor(
    store: VelocityStore,
    gateway: string,
    heard: (didAnswer: boolean) => boolean,
    now: () => number,
  ) {
    this.#store = store;
    this.#gateway = gateway;
    this.#heard = heard;
    this.#now = now;
  }

  /** Whether nothing is on its way. */
  get isIdle(): boolean {
    return !this.#isSending;
  }

  /** Asks for so many events, or none where only something is said; resolves in any case. */
  ask(held: HeldCount, limit: CountedLimit, wanted: number): Promise<CountResult | undefined> {
    return new Promise((resolve) => {
      const entry = this.#questions.get(held) ??
        this.#giveBacks.get(held) ?? { limit, wanted: 0, listeners: [] };
      entry.wanted = Math.max(entry.wanted, wanted);
      entry.listeners.push(resolve);
      if (entry.wanted > 0) {
        this.#giveBacks.delete(held);
        this.#questions.set(held, entry);
      } else this.#giveBacks.set(held, entry);
      if (!this.#isSending) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    // What is asked for in one turn goes together.
    await Promise.resolve();
    while (this.#questions.size + this.#giveBacks.size > 0) {
      if (await this.#sendSome()) this.#giveUp();
    }
    this.#isSending = false;
  }

  /** Sends a batch; whether the store is given up on then. */
  async #sendSome(): Promise<boolean> {
    const now = this.#now();
    const batch = this.#take(MAX_BATCH).map(([held, { limit, wanted, listeners }]) => {
      held.retire(now, Number.NEGATIVE_INFINITY);
      this.#leases += 1;
      const lease = `${this.#gateway}/${this.#leases}`;
      const question = { key: held.key, limit, wanted, lease, settled: held.settled(now) };
      return { held, question, listeners };
    });
    let answers: readonly CountResult[] | undefined;
    try {
      answers = await this.#store.exchange(batch.map(({ question }) => question));
    } catch {
      answers = undefined;
    }
    const isGivenUp = this.#heard(answers !== undefined);
    batch.forEach(({ held, question, listeners }, index) => {
      const answer = answers?.[index];
      if (answer !== undefined) {
        held.forget(question.settled);
        if (question.wanted > 0) held.take(question.lease, answer, now);
      } else if (question.wanted > 0) held.disown(question.lease, now);
      for (const listener of listeners) listener(answer);
    });
    return isGivenUp;
  }

  /** What is sent next: questions, then the rest. */
  #take(most: number): [HeldCount, Entry][] {
    const taken: [HeldCount, Entry][] = [];
    for (const queue of [this.#questions, this.#giveBacks]) {
      for (const one of queue) {
        if (taken.length >= most) return taken;
        queue.delete(one[0]);
        taken.push(one);
      }
    }
    return taken;
  }

  /** Lets all that wait know that there is no answer. They were never sent: no lease can have been given for them. */
  #giveUp(): void {
    for (const [held, { wanted, listeners }] of this.#take(Number.POSITIVE_INFINITY)) {
      if (wanted > 0) held.isKnown = false;
      for (const listener of listeners) listener(undefined);
    }
  }
}
