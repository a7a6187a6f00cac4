import type { ThreadLedger } from "./ledger.js";

const DAY_MS = 86_400_000;
/** How long it takes until a look at the clock is believed. */
const SECOND_LOOK_MS = DAY_MS;
/** Where the look is kept; a thread's own key is a JSON array. */
export const LOOKS = "looks";

/** Whether a gateway ever opened this ledger to the end of its start. */
export async function wasUsed(ledger: ThreadLedger): Promise<boolean> {
  const { rows } = await ledger.claim([], LOOKS);
  return rows.some(({ kind }) => kind === "look");
}

/**
 * Forgets the threads that nobody had written to for `keepMs` at the last look, with their run ids, if that look was
 * a day ago or more, and then looks again.
 *
 * A thread that is forgotten is anybody's, so the clock is not believed at once: one that is ahead, at a start
 * or between, is found out when it is mended within a day, and nothing was forgotten by it. One that went
 * back makes the earlier look void. The look is in the ledger, since a gateway may never run for a day.
 */
export async function forgetOld(
  ledger: ThreadLedger,
  now: number,
  keepMs: number,
): Promise<number> {
  const { rows } = await ledger.claim([], LOOKS);
  const look = rows.find(({ kind }) => kind === "look");
  const at = Number(look?.value["at"] ?? Number.NaN);
  const isRecent = at <= now && now - at < SECOND_LOOK_MS;
  if (isRecent) return 0;
  const count = at <= now ? await ledger.forget(at - keepMs) : 0;
  // Only now: what could not be forgotten is tried again soon, and not after another day.
  await ledger.write(LOOKS, [{ kind: "look", id: "", value: { at: now } }]);
  return count;
}
