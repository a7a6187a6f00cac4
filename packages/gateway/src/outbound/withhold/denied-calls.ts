import type { LedgerRow } from "../../thread/ledger.js";

/** Times kept of one thread; the most that `ag_ui_tools.quarantine.denials` can ask for. */
const MAX_TIMES = 100;

/**
 * When calls were denied on a thread, for `ag_ui_tools.quarantine`.
 *
 * It is a row of the thread's ledger, so that neither a restart nor another gateway opens the tools again. Like what is
 * withheld it names its owner: nobody closes the tools of another person who names the same thread.
 */
export class DeniedCalls {
  readonly #owner: string;
  readonly #times: number[];
  #isFresh = false;

  constructor(owner: string, rows: readonly LedgerRow[]) {
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

  /** How many were denied since then. */
  since(time: number): number {
    return this.#times.filter((at) => !(at <= time)).length;
  }

  /** The row to write, if there is something new; it is asked for again unless that succeeds. */
  take(): LedgerRow[] | undefined {
    if (!this.#isFresh) return undefined;
    this.#isFresh = false;
    return [{ kind: "denials", id: this.#owner, value: { times: [...this.#times] } }];
  }

  /** What was taken could not be written. */
  putBack(): void {
    this.#isFresh = true;
  }
}
