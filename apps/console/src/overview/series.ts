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

/** The bucket with the most violations: its bounds in milliseconds, and its counts. */
export type Peak = {
  readonly since: number;
  readonly until: number;
  readonly violations: number;
  readonly decisions: number;
  /** The verdict of all violations; empty if some are blocked and others would be. */
  readonly verdict: "blocked" | "would_block" | "";
};

/** The bucket with the most blocked and would-block events, the newest of equals; `undefined` if there are none. */
export function peakOf(series: Series, { bucket }: Period): Peak | undefined {
  const { seconds, allowed, would_block: would, blocked } = series;
  let peak: Peak | undefined;
  seconds.forEach((second, at) => {
    const violations = (blocked[at] ?? 0) + (would[at] ?? 0);
    if (violations === 0 || violations < (peak?.violations ?? 0)) return;
    const since = second * 1000;
    const decisions = violations + (allowed[at] ?? 0);
    const verdict =
      blocked[at] === violations ? "blocked" : would[at] === violations ? "would_block" : "";
    peak = { since, until: since + bucket, violations, decisions, verdict };
  });
  return peak;
}
