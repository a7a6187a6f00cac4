import { evaluateGoals } from "./goals.js";
import {
  addedTo,
  among,
  bareKilobytes,
  beyondBare,
  foreignShare,
  OTHER_LOADS,
  otherFigure,
  overHolding,
  overRates,
  ratioTo,
  steepness,
  streamKilobytes,
} from "./figures.js";
import { readable } from "./plot-frame.js";
import type { Raw } from "./raw.js";
import type { Part, VariantId } from "./variant.js";
import type { Measured } from "./session.js";
import { spreadOf } from "./statistics.js";
import type { Spread } from "./statistics.js";

/** A figure with the spread of the repeats. */
export function formatSpread({ middle, low, high }: Spread, unit = ""): string {
  if (Number.isNaN(middle)) return "–";
  const apart = low === high ? "" : ` (${readable(low)}–${readable(high)})`;
  return `${readable(middle)}${unit}${apart}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const align = head.map((_, index) => (index === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The aims with the figures of this run. */
export function goals(raw: Raw): string {
  const rows = evaluateGoals(raw).map(({ wish, unit, found, ofRecorder, isMet }) => [
    wish,
    formatSpread(found, unit),
    formatSpread(ofRecorder, unit),
    Number.isNaN(found.middle) ? "not measured" : isMet ? "met" : "**not met**",
  ]);
  const head = "aim for enforce, batch, beside the bare pipe|found|of a pipe that records|";
  return table(head.split("|"), rows);
}

/**
 * Delay from the agent's write to the client's read, and the delay added to the direct connection.
 */
function delays(raw: Raw, streams: number): string {
  const rows = having(raw, "rates").map(({ id, label }) => [
    label,
    formatSpread(overRates(raw, id, ({ rates }) => among(rates, streams)?.delay.p50)),
    formatSpread(overRates(raw, id, ({ rates }) => among(rates, streams)?.delay.p99)),
    formatSpread(addedTo(raw, id, "direct", ({ rates }) => among(rates, streams)?.delay.p50)),
    formatSpread(addedTo(raw, id, "direct", ({ rates }) => among(rates, streams)?.delay.p99)),
    formatSpread(addedTo(raw, id, "direct", ({ rates }) => among(rates, streams)?.gap.p99)),
    formatSpread(
      ratioTo(raw, id, "direct", ({ rates }) => among(rates, streams)?.delay.p50),
      "×",
    ),
    formatSpread(overRates(raw, id, ({ rates }) => among(rates, streams)?.processorMicroseconds)),
  ]);
  const head =
    "variant|p50 ms|p99 ms|added p50 ms|added p99 ms|added to p99 of gaps, ms|p50 to direct|processor µs an event";
  return table(head.split("|"), rows);
}

/** Time from the request to the first event; alone, one run after another, and among others. */
function firsts(raw: Raw): string {
  const busy = raw.settings.rateStreams.at(-1) ?? 1;
  const head =
    `variant|alone, p50 ms|added p50 ms|added p99 ms|` +
    `among ${busy}, p50 ms|added p50 ms|added p99 ms`;
  const rows = having(raw, "rates").map(({ id, label }) => [
    label,
    formatSpread(overRates(raw, id, ({ first }) => first.p50)),
    formatSpread(addedTo(raw, id, "direct", ({ first }) => first.p50)),
    formatSpread(addedTo(raw, id, "direct", ({ first }) => first.p99)),
    formatSpread(overRates(raw, id, ({ rates }) => among(rates, busy)?.first.p50)),
    formatSpread(addedTo(raw, id, "direct", ({ rates }) => among(rates, busy)?.first.p50)),
    formatSpread(addedTo(raw, id, "direct", ({ rates }) => among(rates, busy)?.first.p99)),
  ]);
  return table(head.split("|"), rows);
}

function saturation(raw: Raw, kind: "live" | "flood"): string {
  const rows = having(raw, "rates").map(({ id, label }) => [
    label,
    formatSpread(overRates(raw, id, (measurement) => measurement[kind].eventsPerSecond)),
    formatSpread(
      ratioTo(raw, id, "direct", (measurement) => measurement[kind].eventsPerSecond),
      "×",
    ),
    formatSpread(
      ratioTo(raw, id, "pipe", (measurement) => measurement[kind].eventsPerSecond),
      "×",
    ),
    formatSpread(overRates(raw, id, (measurement) => measurement[kind].processorMicroseconds)),
    formatSpread(overRates(raw, id, (measurement) => measurement[kind].delay.p99)),
  ]);
  const head = "variant|events/s|to direct|to the pipe|processor µs an event|delay p99 ms";
  return table(head.split("|"), rows);
}

/** Loads that have no aim, each beside a bare program in the same round. */
function otherLoads(raw: Raw): string {
  const ratio = (own: number, bare: number): number => own / bare;
  const rows = OTHER_LOADS.map((load) => {
    const speed = ({ eventsPerSecond }: Measured): number => eventsPerSecond;
    const cost = ({ processorMicroseconds }: Measured): number => processorMicroseconds;
    return [
      load.label,
      formatSpread(otherFigure(raw, load, speed)),
      formatSpread(otherFigure(raw, load, speed, ratio), "×"),
      formatSpread(otherFigure(raw, load, cost)),
      formatSpread(otherFigure(raw, load, cost, ratio), "×"),
      formatSpread(otherFigure(raw, load, ({ first }) => first.p50)),
    ];
  });
  const head =
    "load|events/s|beside the bare one|processor µs an event|beside the bare one|first event, p50 ms";
  return table(head.split("|"), rows);
}

function memory(raw: Raw): string {
  const bare = (of: "pssBytes" | "heapBytes"): Spread =>
    spreadOf(raw.repeats.map((round) => bareKilobytes(round, raw, of)));
  const rows = [
    [
      "bare Node server",
      formatSpread(bare("pssBytes")),
      "–",
      formatSpread(bare("heapBytes")),
      "0",
      "–",
    ],
    ...having(raw, "holding").map(({ id, label }) => [
      label,
      formatSpread(overHolding(raw, id, (measurement) => streamKilobytes(measurement, "idle"))),
      formatSpread(overHolding(raw, id, (measurement) => streamKilobytes(measurement, "active"))),
      formatSpread(
        overHolding(raw, id, (measurement) => streamKilobytes(measurement, "idle", "heapBytes")),
      ),
      formatSpread(beyondBare(raw, id)),
      formatSpread(overHolding(raw, id, ({ heldComplete }) => heldComplete)),
    ]),
  ];
  const head =
    "variant|idle, KB|active, KB|idle, on the heap, KB|idle beyond a bare server, KB|streams held to their end";
  return table(head.split("|"), rows);
}

function costs(raw: Raw): string {
  const sizes = costSizes(raw);
  const rows = having(raw, "holding").map(({ id, label }) => [
    label,
    ...sizes.map((streams) =>
      formatSpread(
        overHolding(
          raw,
          id,
          (measurement) => among(measurement.costs, streams)?.processorMicroseconds,
        ),
      ),
    ),
    formatSpread(steepness(raw, id), "×"),
  ]);
  const names = sizes.map(
    (streams) => `${streams.toLocaleString("en")} ${streams === 1 ? "stream" : "streams"}, µs`,
  );
  return table(["variant", ...names, "most to fewest"], rows);
}

/** The variants of which a part of the bench was measured. */
export function having(raw: Raw, part: Part): Raw["variants"] {
  return raw.variants.filter(({ parts }) => parts.includes(part));
}

/** The numbers of streams among which the cost of an event was measured, ascending. */
export function costSizes({ settings }: Raw): number[] {
  return settings.costStreams.toSorted((left, right) => left - right);
}

function receipts(raw: Raw): string {
  const logs = raw.repeats.flatMap(({ rates, holding }) =>
    [...Object.values(rates), ...Object.values(holding)].flatMap(({ log }) => log ?? []),
  );
  const kept = logs.reduce((sum, log) => sum + log.receipts, 0).toLocaleString("en");
  const verified = logs.reduce((sum, log) => sum + log.verified, 0).toLocaleString("en");
  return `Every run came to its end. ${logs.length} logs held as many receipts as the agent had sent events through them, ${kept} in all, none of them a block; ${verified} were verified to the last signature.`;
}

/** At most five figures, for a person who does not know the bench. */
export function figuresForReadme(raw: Raw): string {
  const busiest = raw.settings.rateStreams.at(-1) ?? 1;
  const own = "enforce-batch";
  const say = (spread: Spread, unit: string): string => `${readable(spread.middle)}${unit}`;
  const delay = addedTo(raw, own, "pipe", ({ rates }) => among(rates, busiest)?.delay.p50);
  const first = addedTo(raw, own, "pipe", ({ first: alone }) => alone.p50);
  const speed = overRates(raw, own, ({ live }) => live.eventsPerSecond);
  const cost = ratioTo(raw, own, "pipe", ({ live }) => live.processorMicroseconds);
  const kilobytes = (id: VariantId): Spread =>
    overHolding(raw, id, (measurement) => streamKilobytes(measurement, "idle"));
  const rows = [
    [`delay of an event, ${busiest} answers at once`, `${say(delay, " ms")} more`],
    ["wait for the start of an answer", `${say(first, " ms")} more`],
    [`events per second on ${raw.system.cores} cores`, say(speed, "")],
    ["processor time of an event", `${say(cost, "")} times as much`],
    [
      "memory of an open stream",
      `${say(kilobytes(own), " KB")} (proxy: ${say(kilobytes("pipe"), " KB")})`,
    ],
  ];
  return table(["", "beside a Node proxy that only copies"], rows);
}

/** The whole report; `pictures` is the folder of the plots as seen from it. */
export function writeReport(raw: Raw, pictures: string): string {
  const { settings, system } = raw;
  const picture = (name: string, text: string): string => `![${text}](${pictures}/${name}.svg)\n`;
  const foreign = Math.round(foreignShare(raw) * 100);
  return `# What the gateway costs under load

\`npm run bench -- gateway${settings.name === "quick" ? " --quick" : ""}\` at commit ${system.commit ?? "unknown"}; the method is on [docs/performance.md](../../docs/performance.md), the raw data in [gateway/raw.json](gateway/raw.json).
Node ${system.node}, Linux ${system.kernel}, ${system.cores} × ${system.processor}, nginx ${system.nginx ?? "not installed"}; agent, client and what is between them share these cores.
${settings.repeats} repeat${settings.repeats === 1 ? "" : "s"}: median (least–greatest). Other work took up to ${foreign} % of the machine during a measurement${foreign > 15 ? "; **figures with that much beside them are preliminary**" : ""}.
${receipts(raw)}

${goals(raw)}

## Delay of an event

From the agent's write to the client's read, at ${settings.rate} events/s per stream. Here and below, "added" is beyond the direct connection.

${picture("delay", "Delay by percentile")}
${picture("added", "Added delay")}
${settings.rateStreams.map((streams) => `### ${streams} ${streams === 1 ? "stream" : "streams"}\n\n${delays(raw, streams)}\n`).join("\n")}
## Time to the first event

${firsts(raw)}

## Saturation, live

${settings.liveStreams} streams with one event each on its way: every event is a packet of its own, as from ${settings.liveStreams} models at once.

${picture("live", "Events per second, live")}
${saturation(raw, "live")}

## Saturation, flood

${settings.floodStreams} streams with ${settings.floodDepth} events each on their way, written ${settings.floodBlock} at a time: whoever looks at no event can pass on many with one call.

${picture("flood", "Events per second, flood")}
${saturation(raw, "flood")}

## Other loads

As live, with another kind of event, or on ${settings.otherStreams} streams with another transport, store or signature; short answers at ${settings.rate} events/s on ${settings.shortStreams} streams. The processor time of PostgreSQL itself is not in the figures.

${otherLoads(raw)}

## Memory of a stream

Share of resident memory that ${settings.heldStreams.toLocaleString("en")} streams add, after a garbage collection.

${picture("memory", "Memory per stream")}
${memory(raw)}

## Cost of an event among few and many streams

Processor time of the process in between, at ${settings.costRate.toLocaleString("en")} events/s altogether.

${picture("cost", "Processor time of an event by number of streams")}
${costs(raw)}
`;
}
