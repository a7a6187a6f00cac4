import type { Counts } from "../api/responses.js";
import { DAY } from "./series.js";

/** How the count of a value changed from one day to the next. */
export type Change = {
  readonly column: string;
  readonly value: string;
  readonly kind: "new" | "up" | "down" | "gone";
  readonly now: number;
  readonly before: number;
};

/** Smaller differences are chance. */
const LEAST = 3;

/**
 * The values of a column whose count of violations changed since the day before.
 *
 * @param counts violations by hour, over two days
 * @param end the end of the second day
 */
export function changesOf(counts: readonly Counts[], column: string, end: number): Change[] {
  const sums = new Map<string, { now: number; before: number }>();
  for (const { count, from = 0, values } of counts.flatMap((one) => one.counts)) {
    const value = values[column];
    if (typeof value !== "string" || value === "") continue;
    const sum = sums.get(value) ?? { now: 0, before: 0 };
    if (from >= end - DAY) sum.now += count;
    else sum.before += count;
    sums.set(value, sum);
  }
  return [...sums].flatMap(([value, { now, before }]) => {
    const kind = kindOf(now, before);
    return kind === undefined ? [] : [{ column, value, kind, now, before }];
  });
}

function kindOf(now: number, before: number): Change["kind"] | undefined {
  if (before === 0) return "new";
  if (now === 0) return before >= LEAST ? "gone" : undefined;
  if (now >= 2 * before && now - before >= LEAST) return "up";
  if (2 * now <= before && before - now >= LEAST) return "down";
  return undefined;
}

const RANK: Readonly<Record<Change["kind"], number>> = { new: 0, up: 1, down: 2, gone: 3 };

/** The changes that an operator should read first: new ones, then rises, then falls; the largest first. */
export function ranked(changes: readonly Change[], most: number): Change[] {
  return changes
    .toSorted(
      (one, other) =>
        RANK[one.kind] - RANK[other.kind] ||
        Math.abs(other.now - other.before) - Math.abs(one.now - one.before),
    )
    .slice(0, most);
}

/** A change as a sentence, without its value. */
export function sentenceOf({ kind, now, before }: Change): string {
  const events = (count: number): string =>
    `${count.toLocaleString()} ${count === 1 ? "event" : "events"}`;
  if (kind === "new") return `${events(now)} in violation; none the day before.`;
  if (kind === "gone") return `no violation; ${events(before)} the day before.`;
  const ratio = kind === "up" ? now / before : before / now;
  const times = ratio >= 10 ? Math.round(ratio).toLocaleString() : ratio.toFixed(1);
  return `${events(now)} in violation, ${before.toLocaleString()} the day before (${kind === "up" ? `${times} times more` : `${times} times fewer`}).`;
}
