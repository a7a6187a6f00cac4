import { addedTo, among, beyondBareToPipe, ratioTo } from "./figures.js";
import type { RateMeasurement } from "./measure-variant.js";
import type { Raw } from "./raw.js";
import type { Spread } from "./statistics.js";
import type { VariantId } from "./variant.js";

/** A target for enforce `batch`, the result, and whether it is met. */
export type Goal = {
  readonly wish: string;
  readonly unit: string;
  readonly found: Spread;
  /** The same for a pipe that parses, hashes and flushes: the minimum cost of a durable log. */
  readonly ofRecorder: Spread;
  readonly isMet: boolean;
};

/** A figure of a variant beside the bare pipe, the limit, and whether more is better. */
type Aim = readonly [
  wish: string,
  figure: (id: VariantId) => Spread,
  limit: number,
  isFloor?: true,
];

/** The targets compared with the figures of this run; the median of the repeats decides. */
export function evaluateGoals(raw: Raw): Goal[] {
  const busiest = raw.settings.rateStreams.at(-1) ?? 0;
  const { liveStreams, rate } = raw.settings;
  type Pick = (measurement: RateMeasurement) => number | undefined;
  const ratio = (pick: Pick) => (id: VariantId) => ratioTo(raw, id, "pipe", pick);
  const added = (pick: Pick) => (id: VariantId) => addedTo(raw, id, "pipe", pick);
  const live = `live, ${liveStreams} streams`;
  const paced = `${busiest} × ${rate} events/s`;
  const ratios: Aim[] = [
    [`${live}: events/s`, ratio((one) => one.live.eventsPerSecond), 0.5, true],
    [`${live}: processor time of an event`, ratio((one) => one.live.processorMicroseconds), 2.4],
    ["flood: events/s", ratio((one) => one.flood.eventsPerSecond), 0.3, true],
    ["flood: processor time of an event", ratio((one) => one.flood.processorMicroseconds), 5],
    [
      `${paced}: processor time of an event`,
      ratio(({ rates }) => among(rates, busiest)?.processorMicroseconds),
      2.2,
    ],
    ["memory of an idle stream beyond a bare server", (id) => beyondBareToPipe(raw, id), 1.3],
  ];
  const times: Aim[] = [
    [`${paced}: p50`, added(({ rates }) => among(rates, busiest)?.delay.p50), 0.5],
    [`${paced}: p99`, added(({ rates }) => among(rates, busiest)?.delay.p99), 4],
    ["time to the first event, alone", added(({ first }) => first.p50), 1.5],
    [
      `time to the first event, among ${busiest} streams`,
      added(({ rates }) => among(rates, busiest)?.first.p50),
      3,
    ],
  ];
  return [
    ...ratios.map((aim) => evaluate(aim, "×", (limit) => `${limit} × the pipe's`)),
    ...times.map((aim) => evaluate(aim, " ms", (limit) => `${limit} ms beyond the pipe's`)),
  ];
}

function evaluate(
  [wish, figure, limit, isFloor]: Aim,
  unit: string,
  describe: (limit: number) => string,
): Goal {
  const found = figure("enforce-batch");
  const isMet = isFloor === true ? found.middle >= limit : found.middle <= limit;
  const bound = isFloor === true ? "at least" : "at most";
  const ofRecorder = figure("recording-pipe");
  return { wish: `${wish}: ${bound} ${describe(limit)}`, unit, found, ofRecorder, isMet };
}
