import type { Raw, Round } from "./raw.js";
import type { Measured } from "./session.js";
import type { HoldMeasurement, RateMeasurement } from "./measure-variant.js";
import { spreadOf } from "./statistics.js";
import type { Spread } from "./statistics.js";
import type { VariantId } from "./variant.js";

type Pick<Of> = (measurement: Of) => number | undefined;

/** A figure of the first session, over the repeats. */
export function overRates(raw: Raw, id: VariantId, pick: Pick<RateMeasurement>): Spread {
  return spreadOf(raw.repeats.map(({ rates }) => valueOf(rates[id], pick)));
}

/** The same, minus the direct connection in the same round. */
export function addedToDirect(raw: Raw, id: VariantId, pick: Pick<RateMeasurement>): Spread {
  return spreadOf(
    raw.repeats.map(({ rates }) => valueOf(rates[id], pick) - valueOf(rates.direct, pick)),
  );
}

/** The same, relative to another variant in the same round. */
export function ratioTo(
  raw: Raw,
  id: VariantId,
  to: VariantId,
  pick: Pick<RateMeasurement>,
): Spread {
  return spreadOf(
    raw.repeats.map(({ rates }) => valueOf(rates[id], pick) / valueOf(rates[to], pick)),
  );
}

/** A figure of the second session, over the repeats. */
export function overHolding(raw: Raw, id: VariantId, pick: Pick<HoldMeasurement>): Spread {
  return spreadOf(raw.repeats.map(({ holding }) => valueOf(holding[id], pick)));
}

function valueOf<Of>(measurement: Of | undefined, pick: Pick<Of>): number {
  return (measurement === undefined ? undefined : pick(measurement)) ?? Number.NaN;
}

/** The measurement with this many streams. */
export function among(measured: readonly Measured[], streams: number): Measured | undefined {
  return measured.find((each) => each.streams === streams);
}

/** Kilobytes per stream, idle or active, added to a process without streams. */
export function streamKilobytes(
  measurement: HoldMeasurement,
  state: "idle" | "active",
  of: "pssBytes" | "heapBytes" = "pssBytes",
): number {
  const [full, empty] = [measurement[state][of], measurement.empty[of]];
  if (full === undefined || empty === undefined) return Number.NaN;
  return (full - empty) / 1024 / measurement.heldStreams;
}

/** The same for a bare Node server of that round. */
export function bareKilobytes(round: Round, raw: Raw, of: "pssBytes" | "heapBytes"): number {
  const [full, empty] = [round.bareServer?.idle[of], round.bareServer?.empty[of]];
  if (full === undefined || empty === undefined) return Number.NaN;
  return (full - empty) / 1024 / raw.settings.heldStreams;
}

/** Kilobytes an idle stream needs beyond a bare Node server. */
export function beyondBare(raw: Raw, id: VariantId): Spread {
  return spreadOf(
    raw.repeats.map((round) => {
      const measurement = round.holding[id];
      if (measurement === undefined) return Number.NaN;
      return streamKilobytes(measurement, "idle") - bareKilobytes(round, raw, "pssBytes");
    }),
  );
}

/** Cost of an event among the most streams over its cost among the fewest. */
export function steepness(raw: Raw, id: VariantId): Spread {
  return overHolding(raw, id, ({ costs }) => {
    const sorted = costs.toSorted((left, right) => left.streams - right.streams);
    const [few, many] = [sorted[0], sorted.at(-1)];
    return (many?.processorMicroseconds ?? Number.NaN) / (few?.processorMicroseconds ?? Number.NaN);
  });
}

/** The largest share of the machine that other work used during a measurement. */
export function foreignShare(raw: Raw): number {
  const all = raw.repeats.flatMap(({ rates, holding }) => [
    ...Object.values(rates).flatMap((each) => [...each.rates, each.live, each.flood]),
    ...Object.values(holding).flatMap(({ costs }) => costs),
  ]);
  return Math.max(...all.map((each) => each.foreignShare));
}
