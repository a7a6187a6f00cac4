import type { Counts } from "../api/responses.js";

/** A period that ends now, and the width of its bars. */
export type Period = {
  readonly name: string;
  readonly title: string;
  readonly milliseconds: number;
  readonly bucket: number;
  /** How often the page asks again. */
  readonly every: number;
};

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The periods of the overview. */
export const PERIODS: readonly Period[] = [
  {
    name: "15m",
    title: "15 min",
    milliseconds: 15 * MINUTE,
    bucket: 15_000,
    every: 5000,
  },
  { name: "24h", title: "24 h", milliseconds: DAY, bucket: HOUR / 2, every: MINUTE },
  { name: "30d", title: "30 d", milliseconds: 30 * DAY, bucket: DAY / 2, every: 5 * MINUTE },
];

/** Columns for a chart: the start of each bucket in seconds, and the decisions in it. */
export type Series = {
  readonly seconds: readonly number[];
  readonly allowed: readonly number[];
  readonly would_block: readonly number[];
  readonly blocked: readonly number[];
};

/** The first bucket of a period. */
export function startOf({ milliseconds, bucket }: Period, now: number): number {
  return Math.floor((now - milliseconds) / bucket) * bucket + bucket;
}

/** Puts counts into buckets; a bucket without decisions is a zero, not a hole. */
export function seriesOf(all: Counts, wouldBlock: Counts, period: Period, start: number): Series {
  const size = Math.round(period.milliseconds / period.bucket);
  const blocked = Array.from({ length: size }, () => 0);
  const allowed = blocked.slice();
  const would = blocked.slice();
  const add = (list: number[], from: number | undefined, count: number): void => {
    const at = Math.floor(((from ?? 0) - start) / period.bucket);
    if (at >= 0 && at < size) list[at] = (list[at] ?? 0) + count;
  };
  for (const { count, from, values } of all.counts) {
    add(values["allowed"] === true ? allowed : blocked, from, count);
  }
  for (const { count, from } of wouldBlock.counts) {
    add(would, from, count);
    add(allowed, from, -count);
  }
  return {
    seconds: blocked.map((_, at) => (start + at * period.bucket) / 1000),
    allowed: allowed.map((value) => Math.max(0, value)),
    would_block: would,
    blocked,
  };
}

/** The sum of a column. */
export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
