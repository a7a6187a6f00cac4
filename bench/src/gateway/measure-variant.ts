import { mkdirSync } from "node:fs";
import { sleep } from "./clock.js";
import { alone, busiest, flood, live, liveOnFew, paced, short } from "./loads.js";
import { measureLoad, finishAll, openStreams } from "./session.js";
import type { Ends, Measured } from "./session.js";
import type { Settings } from "./settings.js";
import type { Quantiles } from "./statistics.js";
import { settle, settledMemory } from "./usage.js";
import type { Memory } from "./usage.js";
import { startServer } from "./bare-server.js";
import type { Checked, Running, Variant } from "./variant.js";
import type { Kind } from "./work.js";

/** Delay at a fixed rate, and the saturation rates of a variant. */
export type RateMeasurement = {
  /** Time to the first event without other load. */
  readonly first: Quantiles;
  readonly rates: readonly Measured[];
  readonly live: Measured;
  readonly flood: Measured;
  readonly kinds?: Readonly<Record<"short" | Exclude<Kind, "text">, Measured>>;
  readonly log?: Checked;
};

/** Memory of held streams, and the cost of an event among few and many of them. */
export type HoldMeasurement = {
  readonly empty: Memory;
  readonly idle: Memory;
  readonly active: Memory;
  readonly heldStreams: number;
  readonly heldComplete: number;
  readonly costs: readonly Measured[];
  readonly log?: Checked;
};

/** The directory of a session's files, and whether the whole log is verified. */
export type SessionOptions = {
  readonly ends: Ends;
  readonly settings: Settings;
  readonly directory: string;
  readonly isDeep: boolean;
};

/** Starts a variant, uses it, stops it, and compares its log with the events of the agent. */
async function withVariant<Result extends object>(
  { ends, directory, isDeep }: SessionOptions,
  variant: Pick<Variant, "start">,
  forMemory: boolean,
  use: (running: Running) => Promise<Result>,
): Promise<Result & { readonly log?: Checked }> {
  mkdirSync(directory, { recursive: true });
  const before = await ends.agent.calls.tally();
  const running = await variant.start({ agentPort: ends.agentPort, directory, forMemory });
  try {
    let result: Result;
    try {
      result = await use(running);
    } finally {
      await running.stop();
    }
    const { events, lost } = await ends.agent.calls.tally();
    if (lost !== before.lost) throw new Error("a connection to the agent was lost in mid-stream");
    const log = running.check?.(events - before.events, isDeep);
    return { ...result, ...(log === undefined ? {} : { log }) };
  } finally {
    await running.release?.();
  }
}

/**
 * Fills caches and lets the compiler finish before measuring, for many events at once and for
 * single ones.
 */
export async function warmUp(ends: Ends, running: Running, settings: Settings): Promise<void> {
  await openStreams(ends, running, flood(settings));
  const { contents } = await ends.agent.calls.tally();
  for (let waited = 0; waited < 5; waited += 0.1) {
    await sleep(0.1);
    if ((await ends.agent.calls.tally()).contents - contents > settings.warmEvents) break;
  }
  await finishAll(ends);
  await openStreams(ends, running, live(settings));
  await sleep(settings.warmLiveSeconds);
  await finishAll(ends);
  // Starts and ends of runs.
  await openStreams(ends, running, short(settings));
  await sleep(settings.warmSeconds);
  await finishAll(ends);
}

/** Delay at 1, 32 and 128 streams, then at saturation. */
export function measureRates(at: SessionOptions, variant: Variant): Promise<RateMeasurement> {
  const { ends, settings } = at;
  return withVariant(at, variant, false, async (running) => {
    await warmUp(ends, running, settings);
    const { first } = await measureLoad(ends, running, alone(settings));
    const rates: Measured[] = [];
    for (const streams of settings.rateStreams.slice(0, -1)) {
      rates.push(await measureLoad(ends, running, paced(settings, streams)));
    }
    rates.push(await measureLoad(ends, running, busiest(settings)));
    const measurement = {
      first,
      rates,
      live: await measureLoad(ends, running, live(settings)),
      flood: await measureLoad(ends, running, flood(settings)),
    };
    if (!variant.parts.includes("kinds")) return measurement;
    const kinds = {
      short: await measureLoad(ends, running, short(settings)),
      toolcalls: await measureLoad(ends, running, live(settings, "toolcalls")),
      statedeltas: await measureLoad(ends, running, live(settings, "statedeltas")),
    };
    return { ...measurement, kinds };
  });
}

/** Live events through a variant with another transport or store. */
export async function measureLive(at: SessionOptions, variant: Variant): Promise<Measured> {
  const { ends, settings } = at;
  return withVariant(at, variant, false, (running) =>
    measureLoad(ends, running, {
      ...liveOnFew(settings),
      warmSeconds: settings.warmLiveSeconds / 2,
    }),
  );
}

/** A thousand idle streams, then a slow rate distributed to all of them, then to fewer. */
export function measureHolding(at: SessionOptions, variant: Variant): Promise<HoldMeasurement> {
  const { ends, settings } = at;
  return withVariant(at, variant, true, async (running) => {
    const remember = () => settledMemory(running.pids(), running.memoryFile);
    const { heldStreams, costRate, costSeconds } = settings;
    const even = { kind: "even", eventsPerSecond: costRate } as const;
    // Little load before the first reading: pages that a flood left free would be filled again
    // unnoticed.
    await measureLoad(ends, running, alone(settings));
    await settle(running.pids());
    const empty = await remember();
    await openStreams(ends, running, { plan: { kind: "idle" }, streams: heldStreams });
    await settle(running.pids());
    const idle = await remember();
    await ends.agent.calls.plan(even);
    await sleep(costSeconds);
    const active = await remember();
    const { complete } = await finishAll(ends);
    await warmUp(ends, running, settings);
    const costs: Measured[] = [];
    for (const streams of settings.costStreams) {
      const load = { plan: even, streams, warmSeconds: settings.warmSeconds, seconds: costSeconds };
      costs.push(await measureLoad(ends, running, load));
    }
    return { empty, idle, active, heldStreams, heldComplete: complete, costs };
  });
}

/** The cost of the same number of idle streams for a bare Node server. */
export async function measureBareServer(
  at: SessionOptions,
): Promise<{ empty: Memory; idle: Memory }> {
  const { ends, settings } = at;
  const start = startServer.bind(undefined, "holder");
  return withVariant(at, { start }, true, async (running) => {
    const remember = () => settledMemory(running.pids(), running.memoryFile);
    const opening = { target: running.target, isRenewing: false };
    await ends.client.calls.open({ ...opening, streams: settings.floodStreams });
    await ends.client.calls.drop();
    await sleep(0.5);
    const empty = await remember();
    await ends.client.calls.open({ ...opening, streams: settings.heldStreams });
    await sleep(1);
    const idle = await remember();
    await ends.client.calls.drop();
    return { empty, idle };
  });
}
