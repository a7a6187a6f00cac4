/**
 * The cost of the gateway under load: the same agent and the same client with nothing, a pipe,
 * nginx or Countersign between them, each in its own process. The method is on docs/performance.md.
 *
 * npm run bench -- gateway [--quick] [--repeats N] [--only pipe,enforce-batch]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publish } from "./gateway/publish.js";
import type { Raw } from "./gateway/raw.js";
import { describeSystem } from "./gateway/raw.js";
import { startEnds } from "./gateway/session.js";
import { isMeasured, readSettings } from "./gateway/settings.js";
import {
  measureBareServer,
  measureHolding,
  measureLive,
  measureRates,
} from "./gateway/measure-variant.js";
import type { SessionOptions } from "./gateway/measure-variant.js";
import type { Part, Variant } from "./gateway/variant.js";
import { listVariants } from "./gateway/variants.js";

const settings = readSettings(process.argv.slice(2));
const directory = mkdtempSync(join(tmpdir(), "countersign-bench-"));
const variants = listVariants()
  .map((variant) => {
    const parts = variant.parts.filter((part) => isMeasured(process.argv, variant.id, part));
    return { ...variant, parts };
  })
  .filter(({ parts }) => parts.length > 0);
const ends = await startEnds();
const startedAt = performance.now();

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

function say(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4);
  process.stdout.write(`${seconds} s  ${text}\n`);
}

const raw: Raw = {
  system: describeSystem(),
  settings,
  variants: variants.map(({ id, label, parts }) => ({ id, label, parts })),
  repeats: [],
};
let isComplete = false;
try {
  for (let repeat = 0; repeat < settings.repeats; repeat++) {
    // Every second round goes backwards, so that no variant always follows the same neighbour.
    const order = repeat % 2 === 0 ? variants : variants.toReversed();
    const isDeep = repeat === settings.repeats - 1;
    const round: Raw["repeats"][number] = { rates: {}, live: {}, holding: {} };
    raw.repeats.push(round);
    const optionsFor = (part: Part, { id }: Variant): SessionOptions => ({
      ends,
      settings,
      isDeep: isDeep && (settings.name === "full" || part !== "rates"),
      directory: join(directory, `${repeat}-${part}-${id}`),
    });
    const having = (part: Part) => order.filter(({ parts }) => parts.includes(part));
    for (const variant of having("rates")) {
      const at = optionsFor("rates", variant);
      const measurement = await measureRates(at, variant);
      round.rates[variant.id] = measurement;
      const busiest = measurement.rates.at(-1);
      say(
        `${variant.label}: delay p50 ${busiest?.delay.p50} ms, p99 ${busiest?.delay.p99} ms, ` +
          `${Math.round(measurement.live.eventsPerSecond)} events/s live, ` +
          `${Math.round(measurement.flood.eventsPerSecond)} in a flood`,
      );
    }
    for (const variant of having("live")) {
      const measured = await measureLive(optionsFor("live", variant), variant);
      round.live[variant.id] = measured;
      say(`${variant.label}: ${Math.round(measured.eventsPerSecond)} events/s live`);
    }
    const bareAt = { ends, settings, isDeep, directory: join(directory, `${repeat}-bare`) };
    round.bareServer = await measureBareServer(bareAt);
    for (const variant of having("holding")) {
      const measurement = await measureHolding(optionsFor("holding", variant), variant);
      round.holding[variant.id] = measurement;
      const kilobytes =
        (measurement.idle.pssBytes - measurement.empty.pssBytes) / 1024 / measurement.heldStreams;
      const cost = measurement.costs.map(({ processorMicroseconds }) =>
        processorMicroseconds.toFixed(0),
      );
      say(
        `${variant.label}: ${kilobytes.toFixed(1)} KB per idle stream, ${cost.join(" ")} µs an event`,
      );
    }
  }
  publish(raw, !process.argv.includes("--only"));
  isComplete = true;
} finally {
  await ends.client.stop();
  await ends.agent.stop();
  if (isComplete) rmSync(directory, { recursive: true, force: true });
  else process.stdout.write(`what the processes wrote is in ${directory}\n`);
}
say("done");
