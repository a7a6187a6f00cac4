import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { ForeignFilter, ForeignReceipt } from "../import/foreign.js";
import type { CountRequest, CountRow, EntryFilter, PageRequest } from "../query/query.js";
import { ForeignDatabase } from "./foreign-database.js";
import { IndexDatabase, startOfLog } from "./index-database.js";
import type { FoundEntries, IndexProgress } from "./index-database.js";

/** The index and the foreign receipts, in their own thread or on this one. */
export class IndexService {
  readonly #index: IndexDatabase;
  readonly #foreign: ForeignDatabase;
  #target: IndexProgress;
  #following: Promise<void> | undefined;
  #closed = false;

  private constructor(index: IndexDatabase, foreign: ForeignDatabase, target: IndexProgress) {
    this.#index = index;
    this.#foreign = foreign;
    this.#target = target;
  }

  static async open(directory: string, log: IndexProgress): Promise<IndexService> {
    const foreign = await ForeignDatabase.open(directory);
    const index = await IndexDatabase.open(directory, log);
    const service = new IndexService(index, foreign, log);
    const { first } = startOfLog(directory);
    // A process that was killed while it removed entries may have left rows.
    if (index.removeRows(first)) await service.remove(first, index.progress);
    service.follow(log);
    return service;
  }

  /** Sets the target of the index, which follows in the background. */
  follow(log: IndexProgress): void {
    if (log.position > this.#target.position) this.#target = log;
    this.#following ??= this.#run().finally(() => {
      this.#following = undefined;
    });
    // The next query meets the failure again and reports it.
    this.#following.catch(() => undefined);
  }

  async #run(): Promise<void> {
    await yieldToLoop();
    while (!this.#closed && this.#index.follow(this.#target)) await yieldToLoop();
  }

  async #caughtUp(log: IndexProgress): Promise<void> {
    while (this.#index.progress.position < log.position && !this.#closed) {
      this.follow(log);
      await this.#following;
    }
  }

  /** Removes the rows of the entries before `first`, in small steps, after it has read their files. */
  async remove(first: number, log: IndexProgress): Promise<void> {
    await this.#caughtUp(log);
    while (!this.#closed && this.#index.removeRows(first)) await yieldToLoop();
    for (let kind: number | undefined = 0; kind !== undefined && !this.#closed;) {
      kind = this.#index.removeKinds(kind);
      await yieldToLoop();
    }
  }

  progress(): IndexProgress {
    return this.#index.progress;
  }

  async query(
    filter: EntryFilter,
    page: PageRequest | undefined,
    log: IndexProgress,
  ): Promise<FoundEntries> {
    await this.#caughtUp(log);
    return this.#index.query(filter, page);
  }

  async count(request: CountRequest, log: IndexProgress): Promise<CountRow[]> {
    await this.#caughtUp(log);
    return this.#index.count(request);
  }

  importForeign(receipts: readonly ForeignReceipt[]): number {
    return this.#foreign.add(receipts);
  }

  queryForeign(filter: ForeignFilter): ForeignReceipt[] {
    return this.#foreign.query(filter);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#following?.catch(() => undefined);
    this.#index.close();
    this.#foreign.close();
  }
}
