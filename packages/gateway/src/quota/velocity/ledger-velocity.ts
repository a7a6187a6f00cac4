import type { JsonObject } from "@countersign/core";
import type { StoredRow, KeyedStore } from "../../store/keyed-store.js";
import type { Clock } from "../../base/ports.js";
import { grantCount, emptyAt } from "./count.js";
import type { VelocityCount } from "./count.js";
import type { VelocityStore } from "./velocity-store.js";

/** The ledger key of the rows; a thread's own key is a JSON array. */
const VELOCITY = "velocity";

type Kept = { readonly count: VelocityCount; readonly emptyAt: number };

/**
 * Opens the counts of a gateway that does not share its ledger: all of them are in memory, and
 * written to the ledger before they count.
 *
 * A grant that cannot be written stays taken here, so that a full disk grants nothing twice.
 */
export async function openLedgerVelocity(
  ledger: Pick<KeyedStore, "claim" | "write">,
  gateway: string,
  clock: Clock,
): Promise<VelocityStore> {
  const kept = new Map<string, Kept>();
  const { rows } = await ledger.claim([], VELOCITY);
  for (const { kind, id, value } of rows) {
    if (kind === "velocity") kept.set(id, value as unknown as Kept);
  }
  const sweep = async (): Promise<void> => {
    const now = clock.now();
    const empty = [...kept].filter(([, { emptyAt: end }]) => end < now).map(([id]) => id);
    if (empty.length === 0) return;
    for (const id of empty) kept.delete(id);
    const names = empty.map((id) => ({ kind: "velocity", id }) as const);
    await ledger.write(VELOCITY, [], names);
  };
  await sweep();
  return {
    exchange: async (requests) => {
      const now = clock.now();
      const changed: StoredRow[] = [];
      const results = requests.map((request) => {
        const { key, limit } = request;
        const { count, result } = grantCount(kept.get(key)?.count, request, gateway, now);
        const row: Kept = { count, emptyAt: emptyAt(limit, now) };
        kept.set(key, row);
        changed.push({ kind: "velocity", id: key, value: row as unknown as JsonObject });
        return result;
      });
      await ledger.write(VELOCITY, changed);
      return results;
    },
    sweep,
    close: async () => {},
  };
}
