import { addedToDirect, among, beyondBare, ratioTo, steepness } from "./figures.js";
import type { Raw } from "./raw.js";
import type { Spread } from "./statistics.js";
import type { VariantId } from "./variant.js";

/** A target for enforce `batch`, the result, and whether it is met. */
export type Goal = {
  readonly wish: string;
  readonly unit: string;
  readonly found: Spread;
  /** The same figure of the bare pipe: the share of the machine and Node. */
  readonly ofPipe: Spread;
  /** The same for a pipe that parses, hashes and flushes: the minimum cost of a durable log. */
  readonly ofRecorder: Spread;
  readonly isMet: boolean;
};

/** The targets compared with the figures of this run; the median of the repeats decides. */
export function evaluateGoals(raw: Raw): Goal[] {
  const busiest = raw.settings.rateStreams.at(-1) ?? 0;
  const at = `at ${busiest} streams of ${raw.settings.rate} events/s`;
  const most = raw.settings.heldStreams.toLocaleString("en");
  const added =
    (quantile: "p50" | "p99") =>
    (id: VariantId): Spread =>
      addedToDirect(raw, id, ({ rates }) => among(rates, busiest)?.delay[quantile]);
  const carried =
    (load: "live" | "flood") =>
    (id: VariantId): Spread =>
      ratioTo(raw, id, "pipe", (measurement) => measurement[load].eventsPerSecond);
  const goal = (
    wish: string,
    unit: string,
    figure: (id: VariantId) => Spread,
    isEnough: (value: number) => boolean,
  ): Goal => {
    const found = figure("enforce-batch");
    const [ofPipe, ofRecorder] = [figure("pipe"), figure("recording-pipe")];
    return { wish, unit, found, ofPipe, ofRecorder, isMet: isEnough(found.middle) };
  };
  return [
    goal(`added delay, p50, ${at}: under 1 ms`, "ms", added("p50"), (value) => value < 1),
    goal(`added delay, p99, ${at}: under 5 ms`, "ms", added("p99"), (value) => value < 5),
    goal(
      "saturation, live events: half of the pipe or more",
      "×",
      carried("live"),
      (value) => value >= 0.5,
    ),
    goal(
      "saturation, flood: half of the pipe or more",
      "×",
      carried("flood"),
      (value) => value >= 0.5,
    ),
    goal(
      "idle stream beyond a bare Node server: under 25 KB",
      "KB",
      (id) => beyondBare(raw, id),
      (value) => value < 25,
    ),
    // Flat: the cost of more streams stays within the spread of the repeats.
    goal(
      `cost of an event among ${most} streams against 1: flat`,
      "×",
      (id) => steepness(raw, id),
      (value) => value < 1.2,
    ),
  ];
}
