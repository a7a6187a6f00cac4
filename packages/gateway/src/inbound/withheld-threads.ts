import { WithheldRegister } from "../event/withheld-register.js";

/** Maximum number of threads; the least recently used one is evicted first. */
const MAX_THREADS = 50_000;

/** The registers of withheld content in memory, one for each thread of each owner; bounded. */
export class WithheldThreads {
  readonly #registers = new Map<string, WithheldRegister>();

  /**
   * Returns the register of a thread, and creates it when it is new.
   *
   * Clients choose thread ids, so each owner has its own: a block for one person must not affect another who names the same thread.
   */
  open(agent: string, threadId: string, owner: string): WithheldRegister {
    const key = JSON.stringify([agent, owner, threadId]);
    const register = this.#registers.get(key) ?? new WithheldRegister();
    // Deleting and inserting moves it to the end of the map.
    this.#registers.delete(key);
    this.#registers.set(key, register);
    if (this.#registers.size > MAX_THREADS) {
      const oldest = this.#registers.keys().next();
      if (oldest.done !== true) this.#registers.delete(oldest.value);
    }
    return register;
  }
}
