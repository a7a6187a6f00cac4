import {
  addedTo,
  among,
  bareKilobytes,
  overHolding,
  overRates,
  streamKilobytes,
} from "./figures.js";
import { drawBars } from "./plot-bars.js";
import { drawLines } from "./plot-lines.js";
import type { Raw } from "./raw.js";
import { costSizes, having } from "./report.js";
import { spreadOf } from "./statistics.js";
import type { VariantId } from "./variant.js";

/** Every plot of a run, by name. */
export function drawPlots(raw: Raw): ReadonlyMap<string, string> {
  return new Map([
    ["delay", delay(raw)],
    ["added", added(raw)],
    ["live", saturation(raw, "live")],
    ["flood", saturation(raw, "flood")],
    ["memory", memory(raw)],
    ["cost", cost(raw)],
  ]);
}

function busiestOf({ settings }: Raw): number {
  return settings.rateStreams.at(-1) ?? 1;
}

/** By its index among all variants, the same in every chart. */
function colourOf(raw: Raw, id: VariantId): number {
  return raw.variants.findIndex((variant) => variant.id === id);
}

function delay(raw: Raw): string {
  const streams = busiestOf(raw);
  const percents = Array.from({ length: 99 }, (_, index) => index + 1);
  return drawLines({
    title: `Delay of an event, ${streams} streams of ${raw.settings.rate} events/s`,
    x: { name: "percentile", ticks: [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99], isLog: false },
    y: { name: "milliseconds, agent's write to client's read", isLog: true },
    lines: having(raw, "rates").map(({ id, label }) => ({
      name: label,
      colour: colourOf(raw, id),
      points: percents.map((x) => ({
        x,
        y: overRates(raw, id, ({ rates }) => among(rates, streams)?.delay.curve?.[x]).middle,
      })),
    })),
  });
}

function added(raw: Raw): string {
  const streams = busiestOf(raw);
  return drawBars({
    title: `Delay added to the direct way, ${streams} streams of ${raw.settings.rate} events/s`,
    axis: "milliseconds (median of the repeats; whiskers from least to greatest)",
    series: ["p50", "p99"],
    rows: having(raw, "rates")
      .filter(({ id }) => id !== "direct")
      .map(({ id, label }) => ({
        label,
        values: [
          addedTo(raw, id, "direct", ({ rates }) => among(rates, streams)?.delay.p50),
          addedTo(raw, id, "direct", ({ rates }) => among(rates, streams)?.delay.p99),
        ],
      })),
  });
}

function saturation(raw: Raw, kind: "live" | "flood"): string {
  const { liveStreams, floodStreams } = raw.settings;
  const title =
    kind === "live"
      ? `Saturation, live: ${liveStreams} streams, one event each on its way`
      : `Saturation, flood: ${floodStreams} streams, written in blocks`;
  return drawBars({
    title,
    axis: "events per second (median of the repeats; whiskers from least to greatest)",
    series: ["events per second"],
    rows: having(raw, "rates").map(({ id, label }) => ({
      label,
      values: [overRates(raw, id, (measurement) => measurement[kind].eventsPerSecond)],
    })),
  });
}

function memory(raw: Raw): string {
  const none = spreadOf([]);
  const bare = spreadOf(raw.repeats.map((round) => bareKilobytes(round, raw, "pssBytes")));
  return drawBars({
    title: `Memory of a stream, ${raw.settings.heldStreams.toLocaleString("en")} held`,
    axis: "KB of resident memory (median of the repeats; whiskers from least to greatest)",
    series: ["idle", "active"],
    rows: [
      { label: "bare Node server", values: [bare, none] },
      ...having(raw, "holding").map(({ id, label }) => ({
        label,
        values: [
          overHolding(raw, id, (measurement) => streamKilobytes(measurement, "idle")),
          overHolding(raw, id, (measurement) => streamKilobytes(measurement, "active")),
        ],
      })),
    ],
  });
}

function cost(raw: Raw): string {
  const sizes = costSizes(raw);
  return drawLines({
    title: `Cost of an event, ${raw.settings.costRate.toLocaleString("en")} events/s over 1 to ${raw.settings.heldStreams.toLocaleString("en")} streams`,
    x: { name: "open streams", ticks: sizes, isLog: true },
    y: { name: "processor µs an event", isLog: false },
    lines: having(raw, "holding").map(({ id, label }) => ({
      name: label,
      colour: colourOf(raw, id),
      points: sizes.map((streams) => {
        const { middle, low, high } = overHolding(
          raw,
          id,
          (measurement) => among(measurement.costs, streams)?.processorMicroseconds,
        );
        return { x: streams, y: middle, low, high };
      }),
    })),
  });
}
