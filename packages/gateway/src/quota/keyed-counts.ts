import type { JsonObject } from "@countersign/core";
import type { Clock } from "../base/ports.js";
import type { KeyedStore, StoredRow } from "../store/keyed-store.js";
import type { CountKind, CountStore } from "./count-store.js";

/** Options of {@link openKeyedCounts}. */
export type KeyedCountsOptions = {
  readonly store: Pick<KeyedStore, "claim" | "write">;
  /** The name of this gateway. */
  readonly gateway: string;
  readonly clock: Clock;
};

/**
 * Opens the counts of a gateway that does not share its store: all of them are in memory, and
 * written to the store before they count.
 *
 * A grant that cannot be written stays taken here, so that a full disk grants nothing twice.
 */
export async function openKeyedCounts(
  { partition, rows: kind, grant, isOld }: CountKind,
  { store, gateway, clock }: KeyedCountsOptions,
): Promise<CountStore> {
  const { rows } = await store.claim([], partition);
  const kept = new Map<string, JsonObject>();
  for (const row of rows) if (row.kind === kind) kept.set(row.id, row.value);
  const sweep = async (): Promise<void> => {
    const now = clock.now();
    const old = [...kept].filter(([, row]) => isOld(row, now)).map(([id]) => ({ kind, id }));
    if (old.length === 0) return;
    for (const { id } of old) kept.delete(id);
    await store.write(partition, [], old);
  };
  await sweep();
  return {
    exchange: async (requests) => {
      const now = clock.now();
      const changed: StoredRow[] = [];
      const results = requests.map((request) => {
        const { row, result } = grant(kept.get(request.key), request, gateway, now);
        kept.set(request.key, row);
        changed.push({ kind, id: request.key, value: row });
        return result;
      });
      await store.write(partition, changed);
      return results;
    },
    sweep,
    close: async () => {},
  };
}
