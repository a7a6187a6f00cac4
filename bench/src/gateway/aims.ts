import { addedToDirect, among, beyondBare, ratioTo, steepness } from "./figures.js";
import type { Raw } from "./raw.js";
import type { Spread } from "./statistics.js";

/** What we want of enforce `batch`, what came out, and whether that is enough. */
export type Aim = {
  readonly wish: string;
  readonly unit: string;
  readonly found: Spread;
  readonly isMet: boolean;
};

/** The aims beside the figures of this run; the median of the repeats decides. */
export function judgeAims(raw: Raw): Aim[] {
  const busiest = raw.settings.rateStreams.at(-1) ?? 0;
  const id = "enforce-batch";
  const p50 = addedToDirect(raw, id, ({ rates }) => among(rates, busiest)?.delay.p50);
  const p99 = addedToDirect(raw, id, ({ rates }) => among(rates, busiest)?.delay.p99);
  const live = ratioTo(raw, id, "pipe", (sitting) => sitting.live.eventsPerSecond);
  const flood = ratioTo(raw, id, "pipe", (sitting) => sitting.flood.eventsPerSecond);
  const memory = beyondBare(raw, id);
  const flat = steepness(raw, id);
  const at = `at ${busiest} streams of ${raw.settings.rate} events/s`;
  const most = raw.settings.heldStreams.toLocaleString("en");
  return [
    aim(`added delay, p50, ${at}: under 1 ms`, "ms", p50, (value) => value < 1),
    aim(`added delay, p99, ${at}: under 5 ms`, "ms", p99, (value) => value < 5),
    aim("saturation, live events: half of the pipe or more", "×", live, (value) => value >= 0.5),
    aim("saturation, flood: half of the pipe or more", "×", flood, (value) => value >= 0.5),
    aim("idle stream beyond a bare Node server: under 25 KB", "KB", memory, (value) => value < 25),
    // Flat: what more streams add stays within what repeats differ by.
    aim(
      `cost of an event among ${most} streams against 1: flat`,
      "×",
      flat,
      (value) => value < 1.2,
    ),
  ];
}

function aim(wish: string, unit: string, found: Spread, isEnough: (value: number) => boolean): Aim {
  return { wish, unit, found, isMet: isEnough(found.middle) };
}
