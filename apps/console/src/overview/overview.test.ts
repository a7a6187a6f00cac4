import { expect, test } from "vitest";
import { changesOf, ranked, sentenceOf } from "./changes.js";
import { DAY, peakOf, PERIODS, seriesOf, startOf, sumOf } from "./series.js";

test("counts stand in their buckets, a silent one is a zero, and would-block is not counted twice", () => {
  const [period] = PERIODS;
  if (period === undefined) throw new Error("no period");
  const now = 1_800_000_007_000;
  const start = startOf(period, now);
  const last = start + period.milliseconds - period.bucket;
  expect(last <= now && now < last + period.bucket).toBe(true);
  const all = {
    counts: [
      { count: 5, from: start, values: { allowed: true } },
      { count: 2, from: last, values: { allowed: false } },
      { count: 4, from: last, values: { allowed: true } },
      { count: 9, from: start - period.bucket, values: { allowed: true } },
    ],
  };
  const would = { counts: [{ count: 3, from: last, values: { allowed: true } }] };
  const series = seriesOf(all, would, period, start);
  expect(series.seconds).toHaveLength(60);
  expect([series.allowed[0], series.allowed.at(-1), series.allowed[1]]).toEqual([5, 1, 0]);
  expect([series.blocked.at(-1), series.would_block.at(-1)]).toEqual([2, 3]);
  expect(sumOf(series.allowed) + sumOf(series.blocked) + sumOf(series.would_block)).toBe(11);
});

test("new, risen, fallen and vanished values are told; small differences are not", () => {
  const end = 10 * DAY;
  const day = (value: string, before: number, now: number) => [
    { count: before, from: end - DAY - 1, values: { rule: value } },
    { count: now, from: end - DAY, values: { rule: value } },
  ];
  const counts = {
    counts: [
      ...day("risen", 2, 20),
      ...day("fallen", 20, 5),
      ...day("gone", 14, 0),
      ...day("steady", 20, 22),
      ...day("once", 2, 3),
      { count: 1, from: end - 5, values: { rule: "fresh" } },
      { count: 1, from: end - 5, values: { rule: null } },
    ],
  };
  const changes = ranked(changesOf([counts], "rule", end), 10);
  expect(changes.map(({ value, kind }) => `${value} ${kind}`)).toEqual([
    "fresh new",
    "risen up",
    "fallen down",
    "gone gone",
  ]);
  expect(changes.map(sentenceOf)).toEqual([
    "1 event in violation; none the day before.",
    "20 events in violation, 2 the day before (10 times more).",
    "5 events in violation, 20 the day before (4.0 times fewer).",
    "no violation; 14 events the day before.",
  ]);
});

test("the peak is the newest bucket with the most blocked and would-block events; without any there is none", () => {
  const [period] = PERIODS;
  if (period === undefined) throw new Error("no period");
  const seconds = [0, 15, 30, 45];
  const series = {
    seconds,
    allowed: [50, 4, 1, 0],
    would_block: [0, 3, 1, 0],
    blocked: [1, 0, 2, 0],
  };
  expect(peakOf(series, period)).toEqual({
    since: 30_000,
    until: 45_000,
    violations: 3,
    decisions: 4,
    verdict: "",
  });
  const none = seconds.map(() => 0);
  expect(peakOf({ ...series, would_block: none, blocked: none }, period)).toBeUndefined();
});
