import type { CountResult, CountStore, CountedLimit } from "./count-store.js";
import type { ReservedCount } from "./reserved-count.js";

/** Counts in one batch: their rows are locked together for a moment. */
const MAX_BATCH = 200;

/** The next request about one count, and its waiting callers. */
type Entry = {
  readonly limit: CountedLimit;
  wanted: number;
  readonly listeners: ((result: CountResult | undefined) => void)[];
};

/**
 * Sends requests and reports about many counts in batches, one after the other. A request without a
 * response resolves with `undefined`.
 *
 * Requests that runs wait for go first; reports fill up the rest of a batch. A late or lost report
 * makes events count as granted for longer, and then as used: never as less.
 */
export class Exchange {
  readonly #store: CountStore;
  readonly #gateway: string;
  readonly #onResponse: (didAnswer: boolean) => boolean;
  readonly #now: () => number;
  /** A count is in one of the two maps. */
  readonly #requests = new Map<ReservedCount, Entry>();
  readonly #reports = new Map<ReservedCount, Entry>();
  #isSending = false;
  #leases = 0;

  /**
   * @param onResponse called after each batch; returns true when the store is given up, so that no
   * waiting request is sent
   */
  constructor(
    store: CountStore,
    gateway: string,
    onResponse: (didAnswer: boolean) => boolean,
    now: () => number,
  ) {
    this.#store = store;
    this.#gateway = gateway;
    this.#onResponse = onResponse;
    this.#now = now;
  }

  /** True when no batch is pending. */
  get isIdle(): boolean {
    return !this.#isSending;
  }

  /** Requests that many events, or 0 to send only reports; always resolves. */
  ask(
    reserved: ReservedCount,
    limit: CountedLimit,
    wanted: number,
  ): Promise<CountResult | undefined> {
    return new Promise((resolve) => {
      const entry = this.#requests.get(reserved) ??
        this.#reports.get(reserved) ?? { limit, wanted: 0, listeners: [] };
      entry.wanted = Math.max(entry.wanted, wanted);
      entry.listeners.push(resolve);
      if (entry.wanted > 0) {
        this.#reports.delete(reserved);
        this.#requests.set(reserved, entry);
      } else this.#reports.set(reserved, entry);
      if (!this.#isSending) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    // Requests of one turn of the event loop go together.
    await Promise.resolve();
    while (this.#requests.size + this.#reports.size > 0) {
      if (await this.#sendSome()) this.#giveUp();
    }
    this.#isSending = false;
  }

  /** Sends a batch; resolves with true when the store is given up. */
  async #sendSome(): Promise<boolean> {
    const now = this.#now();
    const batch = this.#take(MAX_BATCH).map(([reserved, { limit, wanted, listeners }]) => {
      reserved.retire(now, Number.NEGATIVE_INFINITY);
      this.#leases += 1;
      const lease = `${this.#gateway}/${this.#leases}`;
      const request = { key: reserved.key, limit, wanted, lease, settled: reserved.settled(now) };
      return { reserved, request, listeners };
    });
    let results: readonly CountResult[] | undefined;
    try {
      results = await this.#store.exchange(batch.map(({ request }) => request));
    } catch {
      results = undefined;
    }
    const isGivenUp = this.#onResponse(results !== undefined);
    batch.forEach(({ reserved, request, listeners }, index) => {
      const result = results?.[index];
      if (result !== undefined) {
        reserved.forget(request.settled);
        if (request.wanted > 0) reserved.take(request.lease, result, now);
      } else if (request.wanted > 0) reserved.disown(request.lease, now);
      for (const listener of listeners) listener(result);
    });
    return isGivenUp;
  }

  /** The next batch: requests, then reports. */
  #take(most: number): [ReservedCount, Entry][] {
    const taken: [ReservedCount, Entry][] = [];
    for (const queue of [this.#requests, this.#reports]) {
      for (const one of queue) {
        if (taken.length >= most) return taken;
        queue.delete(one[0]);
        taken.push(one);
      }
    }
    return taken;
  }

  /** Resolves all waiting requests without a response. They were never sent, so the store granted nothing for them. */
  #giveUp(): void {
    for (const [reserved, { wanted, listeners }] of this.#take(Number.POSITIVE_INFINITY)) {
      if (wanted > 0) reserved.isKnown = false;
      for (const listener of listeners) listener(undefined);
    }
  }
}
