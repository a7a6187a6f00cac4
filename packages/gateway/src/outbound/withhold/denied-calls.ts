import type { StoredRow } from "../../store/keyed-store.js";

/** The number of times kept for one thread; the most that `ag_ui_tools.quarantine.denials` can require. */
const MAX_TIMES = 100;

/**
 * The times at which calls were denied on a thread, for `ag_ui_tools.quarantine`.
 *
 * It is a row of the thread's ledger, so that neither a restart nor another gateway opens the tools again. Like a withheld unit it names
 * its owner: a client cannot close the tools of another person by naming the same thread.
 */
export class DeniedCalls {
  readonly #owner: string;
  readonly #times: number[];
  #isFresh = false;

  constructor(owner: string, rows: readonly StoredRow[]) {
    this.#owner = owner;
    const row = rows.find(({ kind, id }) => kind === "denials" && id === owner);
    const times = row?.value["times"];
    this.#times = Array.isArray(times) ? times.map(Number).slice(-MAX_TIMES) : [];
  }

  add(now: number): void {
    this.#times.push(now);
    if (this.#times.length > MAX_TIMES) this.#times.shift();
    this.#isFresh = true;
  }

  /** The number of calls denied since then. */
  since(time: number): number {
    return this.#times.filter((at) => !(at <= time)).length;
  }

  /** Returns the row to write, if it changed. After a failed write the caller calls `putBack`. */
  take(): StoredRow[] | undefined {
    if (!this.#isFresh) return undefined;
    this.#isFresh = false;
    return [{ kind: "denials", id: this.#owner, value: { times: [...this.#times] } }];
  }

  /** The row could not be written. */
  putBack(): void {
    this.#isFresh = true;
  }
}
