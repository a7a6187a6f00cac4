import type { JsonObject } from "@countersign/core";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { KeyedStore, RowClaim, RowName, StoredRow } from "../store/keyed-store.js";

/** The gateways that write to the same ledger. */
export type LedgerPeers = {
  /** The name of this gateway. */
  readonly gateway: string;
  /** Milliseconds since the last heartbeat of a gateway, which comes once a second; `undefined` if there is none. */
  heartbeatAge(gateway: string): Promise<number | undefined>;
};

/** With a heartbeat this old, the other gateway is not running. */
const OLD_MS = 5000;
const MAX_LEFT = 10_000;

/** Waiting times in milliseconds. */
const WAITS = {
  /** Between two looks at a lock of another gateway. */
  step: 50,
  /** For a run at another gateway: its client may have disconnected a moment ago. */
  notice: 500,
  /** For a gateway without a row: a crash of the database removes the rows of all. */
  missing: 2000,
  /** Between two attempts to remove the locks that could not be removed. */
  retry: 1000,
};

type Holder = { readonly gateway: string; readonly token: string };

/** The lock of one request on its thread. */
export class ThreadLock {
  readonly partition: string;
  readonly name: RowName;
  readonly holder: Holder;
  /** True while the row of the lock is ours to remove. */
  isHeld = false;

  constructor(partition: string, id: string, gateway: string) {
    this.partition = partition;
    this.name = { kind: "open", id };
    this.holder = { gateway, token: randomUUID() };
  }

  /** The claim of the thread; with `after`, of the thread that this holder left locked. */
  claim(after?: Holder): RowClaim {
    const { kind, id } = this.name;
    const name = after === undefined ? id : JSON.stringify([id, after.gateway, after.token]);
    return { partition: this.partition, row: { kind, id: name, value: { ...this.holder } } };
  }
}

/**
 * Allows one open run per thread over all gateways of a ledger. A row of the thread names the gateway of the open run.
 *
 * A gateway that was killed cannot remove its rows. Another one claims the thread after it with a row that is never
 * removed: of any number of gateways one gets it, also one that saw the old row long ago.
 */
export class ThreadLocks {
  readonly #store: KeyedStore;
  readonly #peers: LedgerPeers;
  /** Locks whose removal failed. */
  readonly #left = new Map<string, ThreadLock>();
  readonly #waits: typeof WAITS;
  #isRetrying = false;

  constructor(store: KeyedStore, peers: LedgerPeers, waits: Partial<typeof WAITS> = {}) {
    this.#store = store;
    this.#peers = peers;
    this.#waits = { ...WAITS, ...waits };
  }

  /** @param owner the principal, where others cannot lock its thread */
  create(partition: string, owner: string): ThreadLock {
    return new ThreadLock(partition, owner, this.#peers.gateway);
  }

  /**
   * Waits for the thread if another gateway has it.
   *
   * @param known the result of the lock's claim
   * @param rows the rows of the thread, read with that claim
   * @returns the rows of the thread as of the lock; if `lock.isHeld` is false, another gateway has an open run
   */
  async acquire(
    lock: ThreadLock,
    known: JsonObject | undefined,
    rows: StoredRow[],
  ): Promise<StoredRow[]> {
    const from = performance.now();
    let holder = known as Holder | undefined;
    let read = rows;
    while (holder !== undefined) {
      const waited = performance.now() - from;
      const state = await this.#stateOf(holder, waited);
      if (state === "running" && waited >= this.#waits.notice) return read;
      if (state !== "over") await delay(this.#waits.step);
      const claimed = await this.#store.claim(
        [lock.claim(state === "over" ? holder : undefined)],
        lock.partition,
      );
      holder = claimed.known[0] as Holder | undefined;
      read = claimed.rows;
    }
    lock.isHeld = true;
    // The end of this run removes the row.
    this.#left.delete(keyOf(lock));
    return read;
  }

  /** Removes a lock that no other write removed. */
  async release(lock: ThreadLock): Promise<void> {
    if (!lock.isHeld) return;
    lock.isHeld = false;
    await this.#remove(lock).catch(() => this.#keepTrying(lock));
  }

  async #remove({ partition, name }: ThreadLock): Promise<void> {
    await this.#store.write(partition, [], [name]);
  }

  /** Whether the gateway of a holder runs. It does if it has sent a heartbeat since the wait began. */
  async #stateOf({ gateway }: Holder, waited: number): Promise<"running" | "unknown" | "over"> {
    // This gateway has no open run on the thread, or it would not have claimed the lock.
    if (gateway === this.#peers.gateway) return "over";
    // A gateway that cannot be looked up counts as running.
    const age = await this.#peers.heartbeatAge(gateway).catch(() => 0);
    if (age === undefined) return waited >= this.#waits.missing ? "over" : "unknown";
    if (age > OLD_MS) return "over";
    return age <= waited ? "running" : "unknown";
  }

  #keepTrying(lock: ThreadLock): void {
    this.#left.set(keyOf(lock), lock);
    if (this.#left.size > MAX_LEFT) this.#left.delete(this.#left.keys().next().value as string);
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    setTimeout(() => void this.#removeLeft(), this.#waits.retry).unref();
  }

  async #removeLeft(): Promise<void> {
    this.#isRetrying = false;
    for (const [key, lock] of this.#left) {
      this.#left.delete(key);
      try {
        await this.#remove(lock);
      } catch {
        this.#keepTrying(lock);
        return;
      }
    }
  }
}

function keyOf({ partition, name }: ThreadLock): string {
  return JSON.stringify([partition, name.id]);
}
