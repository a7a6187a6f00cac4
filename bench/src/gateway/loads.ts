import type { Load } from "./session.js";
import type { Settings } from "./settings.js";
import type { Setup } from "./variant.js";
import type { Kind } from "./work.js";

/** Events at the pace of models, on runs that end and are followed by others. */
export function paced(settings: Settings, streams: number): Load {
  const { rate, runSeconds, warmSeconds, rateSeconds } = settings;
  return {
    plan: { kind: "even", eventsPerSecond: rate * streams, eventsPerRun: rate * runSeconds },
    streams,
    isRenewing: true,
    warmSeconds,
    seconds: rateSeconds,
  };
}

/** The usual short answers at that pace: a new request for each. */
export function short(settings: Settings): Load {
  const { rate, shortStreams, shortEvents } = settings;
  return { ...paced({ ...settings, runSeconds: shortEvents / rate }, shortStreams) };
}

/** Every event in its own packet, one unit of each stream in flight. */
export function live(settings: Settings, of: Kind = "text"): Load {
  const { liveStreams, saturationSeconds } = settings;
  return {
    plan: { kind: "window", inFlight: liveStreams, block: 1, of },
    streams: liveStreams,
    warmSeconds: of === "text" ? 0.5 : settings.warmSeconds,
    seconds: saturationSeconds,
  };
}

/** The same on fewer streams. */
export function liveOnFew(settings: Settings): Load {
  return live({ ...settings, liveStreams: settings.otherStreams });
}

/** Many events of each stream in flight, written many at a time. */
export function flood(settings: Settings): Load {
  const { floodStreams, floodDepth, floodBlock, saturationSeconds } = settings;
  return {
    plan: { kind: "window", inFlight: floodStreams * floodDepth, block: floodBlock, of: "text" },
    streams: floodStreams,
    warmSeconds: 0.5,
    seconds: saturationSeconds,
  };
}

/** Starts of runs without other load. */
export function alone({ probes }: Settings): Load {
  return { plan: { kind: "idle" }, streams: 0, warmSeconds: 0, seconds: 0, probes };
}

/** The most streams of a fixed rate; once those are measured, starts of runs among them. */
export function busiest(settings: Settings): Load {
  return { ...paced(settings, settings.rateStreams.at(-1) ?? 1), probes: settings.probes };
}

/** A load by name, and what else than SSE and `sign: batch` it needs in between. */
export type NamedLoad = { readonly of: (settings: Settings) => Load; readonly setup: Setup };

/** The loads that `turns` measures unless told otherwise, and after them the others. */
export const LOADS: Readonly<Record<string, NamedLoad>> = {
  first: { of: alone, setup: {} },
  paced: { of: busiest, setup: {} },
  live: { of: live, setup: {} },
  flood: { of: flood, setup: {} },
  short: { of: short, setup: {} },
  toolcalls: { of: (settings) => live(settings, "toolcalls"), setup: {} },
  statedeltas: { of: (settings) => live(settings, "statedeltas"), setup: {} },
  each: { of: liveOnFew, setup: { sign: "each" } },
  websocket: { of: liveOnFew, setup: { transport: "websocket" } },
  tls: { of: liveOnFew, setup: { transport: "tls" } },
  postgres: { of: liveOnFew, setup: { store: "postgres" } },
};
