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

/** The same, minus that of another variant in the same round. */
export function addedTo(
  raw: Raw,
  id: VariantId,
  to: VariantId,
  pick: Pick<RateMeasurement>,
): Spread {
  return spreadOf(
    raw.repeats.map(({ rates }) => valueOf(rates[id], pick) - valueOf(rates[to], pick)),
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
  return spreadOf(raw.repeats.map((round) => beyondBareIn(round, raw, id)));
}

/** The same, relative to the bare pipe in the same round. */
export function beyondBareToPipe(raw: Raw, id: VariantId): Spread {
  return spreadOf(
    raw.repeats.map((round) => beyondBareIn(round, raw, id) / beyondBareIn(round, raw, "pipe")),
  );
}

function beyondBareIn(round: Round, raw: Raw, id: VariantId): number {
  const measurement = round.holding[id];
  if (measurement === undefined) return Number.NaN;
  return streamKilobytes(measurement, "idle") - bareKilobytes(round, raw, "pssBytes");
}

/** A load beside those of the aims: how it runs through Countersign, and through a bare program. */
export type OtherLoad = {
  readonly label: string;
  readonly own: (round: Round) => Measured | undefined;
  readonly bare: (round: Round) => Measured | undefined;
};

const ofKind = (label: string, kind: keyof NonNullable<RateMeasurement["kinds"]>): OtherLoad => ({
  label,
  own: ({ rates }) => rates["enforce-batch"]?.kinds?.[kind],
  bare: ({ rates }) => rates.pipe?.kinds?.[kind],
});

/** The rows of that table; every bare program is measured in the same round. */
export const OTHER_LOADS: readonly OtherLoad[] = [
  ofKind("tool calls, arguments in six pieces, checked with a schema", "toolcalls"),
  ofKind("state deltas", "statedeltas"),
  ofKind("short answers of 30 events, a new request each", "short"),
  {
    label: "a signature for each receipt",
    own: ({ live }) => live["enforce-each"],
    bare: ({ live }) => live.pipe,
  },
  {
    label: "WebSocket, beside a bare relay",
    own: ({ live }) => live["enforce-websocket"],
    bare: ({ live }) => live["pipe-websocket"],
  },
  {
    label: "TLS, beside a pipe with TLS",
    own: ({ live }) => live["enforce-tls"],
    bare: ({ live }) => live["pipe-tls"],
  },
  {
    label: "receipts in PostgreSQL, on the same machine",
    own: ({ live }) => live["enforce-postgres"],
    bare: ({ live }) => live.pipe,
  },
];

/** A figure of such a load, and its relation to the bare program. */
export function otherFigure(
  raw: Raw,
  { own, bare }: OtherLoad,
  pick: Pick<Measured>,
  relate?: (own: number, bare: number) => number,
): Spread {
  return spreadOf(
    raw.repeats.map((round) => {
      const value = valueOf(own(round), pick);
      return relate === undefined ? value : relate(value, valueOf(bare(round), pick));
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
  const all = raw.repeats.flatMap(({ rates, live, holding }) => [
    ...Object.values(rates).flatMap((each) => [...each.rates, each.live, each.flood]),
    ...Object.values(live),
    ...Object.values(holding).flatMap(({ costs }) => costs),
  ]);
  return Math.max(...all.map((each) => each.foreignShare));
}
