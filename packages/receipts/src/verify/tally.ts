import type { ErrorCode } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import type { Check, CheckId } from "./result.js";
import { failed, held } from "./result.js";

/** One kind of check over many entries; plain data, so that another thread can send it. */
export type Tally = {
  readonly id: CheckId;
  held: number;
  failed: number;
  /** The failure with the lowest index. */
  first?: { index: number; detail: string; code?: ErrorCode };
};

/** Counts results per kind of check. */
export type Tallies = Map<CheckId, Tally>;

function tallyOf(tallies: Tallies, id: CheckId): Tally {
  let tally = tallies.get(id);
  if (tally === undefined) {
    tally = { id, held: 0, failed: 0 };
    tallies.set(id, tally);
  }
  return tally;
}

/** Counts checks that passed. */
export function countHeld(tallies: Tallies, id: CheckId, count = 1): void {
  tallyOf(tallies, id).held += count;
}

/** Counts a check that failed, keeping the failure with the lowest index. */
export function countFailed(
  tallies: Tallies,
  id: CheckId,
  index: number,
  detail: string,
  code?: ErrorCode,
): void {
  const tally = tallyOf(tallies, id);
  tally.failed += 1;
  if (tally.first === undefined || index < tally.first.index) {
    tally.first = code === undefined ? { index, detail } : { index, detail, code };
  }
}

/** Counts a failure by a coded error; any other error is rethrown. */
export function countFailedBy(tallies: Tallies, id: CheckId, index: number, error: unknown): void {
  if (!isCountersignError(error)) throw error;
  countFailed(tallies, id, index, error.message, error.code);
}

/** Adds the counts of one part of the log to the total. */
export function mergeTallies(into: Tallies, part: readonly Tally[]): void {
  for (const { id, held: heldCount, failed: failedCount, first } of part) {
    const tally = tallyOf(into, id);
    tally.held += heldCount;
    tally.failed += failedCount;
    if (first !== undefined && (tally.first === undefined || first.index < tally.first.index)) {
      tally.first = first;
    }
  }
}

/** A tally as one check. */
export function tallyCheck(tally: Tally, unit: string): Check {
  if (tally.first === undefined) return held(tally.id, `${tally.held} ${unit}`);
  const { index, detail, code } = tally.first;
  const total = tally.held + tally.failed;
  return failed(
    tally.id,
    `${tally.failed} of ${total} ${unit}; first at ${index}: ${detail}`,
    index,
    code,
  );
}
