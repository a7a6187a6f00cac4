import { sha256Hex } from "@countersign/core";
import type { SharedCounts, VelocityLimit } from "@countersign/policy";
import { LeasedCounts } from "./leased-counts.js";
import type { CountTable, LeasedCountsOptions } from "./leased-counts.js";
import { VELOCITY } from "./velocity-count.js";

/** The velocity caps of sessions and agents, over all gateways. */
export class VelocityCounts {
  readonly #counts: LeasedCounts;
  /** By limit: a reloaded policy continues with the reserved events. */
  readonly #tables = new Map<string, CountTable>();

  constructor(options: LeasedCountsOptions) {
    this.#counts = new LeasedCounts(VELOCITY, options);
  }

  /**
   * The counts of a limit; `undefined` for a limit per connection, which its own gateway counts.
   */
  of(limit: VelocityLimit): SharedCounts | undefined {
    if (limit.scope === "connection") return undefined;
    const counts = this.#counts;
    const table = this.#tableOf(limit);
    const { held } = table;
    return {
      used: (key) => held.get(key)?.used(limit, counts.now()) ?? Number.POSITIVE_INFINITY,
      count: (key) => {
        const one = held.get(key);
        if (one !== undefined) counts.count(one);
      },
      reserve: (key, events) => counts.reserve(table, key, limit, events),
      release: (key) => {
        const one = held.get(key);
        if (one !== undefined) counts.release(one);
      },
    };
  }

  /** Returns all events. */
  close(): Promise<void> {
    return this.#counts.close();
  }

  #tableOf({ id, kind, windowMs, scope }: VelocityLimit): CountTable {
    const name = JSON.stringify([id, kind, windowMs, scope]);
    const storeKey = (key: string): string => sha256Hex(JSON.stringify([name, key]));
    const table = this.#tables.get(name) ?? { held: new Map(), storeKey };
    this.#tables.set(name, table);
    return table;
  }
}
