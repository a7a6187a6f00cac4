import type { KeyedStore } from "./keyed-store.js";

const DAY_MS = 86_400_000;
/** Time between two checks before their clock is trusted. */
const SECOND_LOOK_MS = DAY_MS;
/** The partition of the last check; the partition of a thread is a JSON array. */
export const LOOKS = "looks";

/** True when a gateway has completed its start on this store before. */
export async function wasUsed(store: KeyedStore): Promise<boolean> {
  const { rows } = await store.claim([], LOOKS);
  return rows.some(({ kind }) => kind === "look");
}

/**
 * Removes partitions that were unused for `keepMs` at the last check, with their run ids, if that
 * check was at least a day ago. Then records a new check.
 *
 * Anyone may claim a removed partition, so one reading of the clock is not enough. If the clock was
 * wrong and is corrected within a day, nothing has been removed. A clock that went back invalidates
 * the last check. The check has a row of its own, because a gateway may never run for a whole
 * day.
 */
export async function forgetOld(store: KeyedStore, now: number, keepMs: number): Promise<number> {
  const { rows } = await store.claim([], LOOKS);
  const look = rows.find(({ kind }) => kind === "look");
  const at = Number(look?.value["at"] ?? Number.NaN);
  const isRecent = at <= now && now - at < SECOND_LOOK_MS;
  if (isRecent) return 0;
  const count = at <= now ? await store.forget(at - keepMs) : 0;
  // Written last, so that a failed removal is repeated soon and not after another day.
  await store.write(LOOKS, [{ kind: "look", id: "", value: { at: now } }]);
  return count;
}
