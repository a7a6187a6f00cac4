import { WithheldRegister } from "../event/withheld-register.js";

/** What the gateway remembers of one conversation with one agent. */
export type Thread = {
  readonly id: string;
  readonly agent: string;
  readonly withheld: WithheldRegister;
};

/** Threads kept at once; the one used longest ago goes first. */
const MAX_THREADS = 50_000;

/** The conversations of a gateway, bounded. */
export class Threads {
  readonly #threads = new Map<string, Thread>();
  readonly #limit: number;

  constructor(limit: number = MAX_THREADS) {
    this.#limit = limit;
  }

  /**
   * The thread of an agent, made when it is new.
   *
   * Thread ids are the client's choice, so each session has its own: what was blocked for one person
   * must not withhold anything from another who names the same thread.
   */
  open(agent: string, id: string, session: string): Thread {
    const key = JSON.stringify([agent, session, id]);
    const known = this.#threads.get(key);
    const thread = known ?? { id, agent, withheld: new WithheldRegister() };
    // Re-inserting moves it to the young end of the map's order.
    this.#threads.delete(key);
    this.#threads.set(key, thread);
    if (this.#threads.size > this.#limit) {
      const oldest = this.#threads.keys().next();
      if (oldest.done !== true) this.#threads.delete(oldest.value);
    }
    return thread;
  }
}
