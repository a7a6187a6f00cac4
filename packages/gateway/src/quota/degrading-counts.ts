import type { JsonObject } from "@countersign/core";
import type { CountKind, CountStore } from "./count-store.js";

/** Options of {@link degradeCounts}. */
export type DegradingCountsOptions = {
  readonly store: CountStore;
  /** The name of this gateway. */
  readonly gateway: string;
  /** False while it is useless to ask the store. */
  isUp(): boolean;
  /** Called when this gateway begins to count alone, and when it ends. */
  onDegraded(isDegraded: boolean): void;
  /** A clock of the process in milliseconds. */
  readonly now?: () => number;
};

/**
 * Counts of shared caps that go on without their store: this gateway alone then counts, so that several gateways
 * together may allow several times the cap. It starts each outage with empty counts.
 */
export function degradeCounts(
  { grant, isOld }: Pick<CountKind, "grant" | "isOld">,
  { store, gateway, isUp, onDegraded, now = () => performance.now() }: DegradingCountsOptions,
): CountStore {
  const own = new Map<string, JsonObject>();
  let isDegraded = false;
  const settle = (next: boolean): void => {
    if (isDegraded === next) return;
    isDegraded = next;
    if (!next) own.clear();
    onDegraded(next);
  };
  return {
    exchange: async (requests) => {
      if (isUp()) {
        try {
          const results = await store.exchange(requests);
          settle(false);
          return results;
        } catch {
          // Counted here.
        }
      }
      settle(true);
      const at = now();
      return requests.map((request) => {
        const { row, result } = grant(own.get(request.key), request, gateway, at);
        own.set(request.key, row);
        return result;
      });
    },
    sweep: async () => {
      for (const [key, row] of own) if (isOld(row, now())) own.delete(key);
      await store.sweep();
    },
    close: () => store.close(),
  };
}
