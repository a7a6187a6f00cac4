import { WithheldRegister } from "../event/withheld-register.js";

/** The gateway's memory of one thread with one agent. */
export type Thread = {
  readonly id: string;
  readonly agent: string;
  readonly withheld: WithheldRegister;
};

/** Maximum number of threads; the least recently used one is evicted first. */
const MAX_THREADS = 50_000;

/** The threads of a gateway, bounded. */
export class Threads {
  readonly #threads = new Map<string, Thread>();
  readonly #limit: number;

  constructor(limit: number = MAX_THREADS) {
    this.#limit = limit;
  }

  /**
   * Returns the thread of an agent, and creates it when it is new.
   *
   * Clients choose thread ids, so each session has its own threads: a block for one person must not
   * affect another who names the same thread.
   */
  open(agent: string, id: string, session: string): Thread {
    const key = JSON.stringify([agent, session, id]);
    const known = this.#threads.get(key);
    const thread = known ?? { id, agent, withheld: new WithheldRegister() };
    // Deleting and inserting moves it to the end of the map.
    this.#threads.delete(key);
    this.#threads.set(key, thread);
    if (this.#threads.size > this.#limit) {
      const oldest = this.#threads.keys().next();
      if (oldest.done !== true) this.#threads.delete(oldest.value);
    }
    return thread;
  }
}
