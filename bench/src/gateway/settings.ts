import type { Part } from "./variant.js";

/** The amount and duration of measurements; seconds per load. */
export type Settings = {
  readonly name: "full" | "quick";
  readonly repeats: number;
  /** Events per second of one stream, as a model writes. */
  readonly rate: number;
  readonly rateStreams: readonly number[];
  readonly rateSeconds: number;
  /** Seconds of a run on average: an answer of a few hundred words. */
  readonly runSeconds: number;
  /** Starts of short runs per measurement of the time to the first event. */
  readonly probes: number;
  readonly warmSeconds: number;
  /** Events of a flood that a process forwards before measuring. */
  readonly warmEvents: number;
  /**
   * Seconds of live events after those. A flood warms only the code path of large groups: on the
   * path of single events the optimizing compiler used a tenth of all processor time for about ten
   * seconds more.
   */
  readonly warmLiveSeconds: number;
  readonly saturationSeconds: number;
  /** The same with another transport, store or signature: a database shares the machine. */
  readonly otherStreams: number;
  /** Streams of short answers, and events of such an answer on average. */
  readonly shortStreams: number;
  readonly shortEvents: number;
  /** Streams with one event each in flight at any time. */
  readonly liveStreams: number;
  readonly floodStreams: number;
  /** Events in flight in a flood, per stream, and how many of them the agent writes at once. */
  readonly floodDepth: number;
  readonly floodBlock: number;
  readonly heldStreams: number;
  /** The same events per second distributed to fewer and more streams. */
  readonly costRate: number;
  readonly costStreams: readonly number[];
  readonly costSeconds: number;
};

const FULL: Settings = {
  name: "full",
  repeats: 3,
  rate: 50,
  rateStreams: [1, 32, 128],
  rateSeconds: 5,
  runSeconds: 10,
  probes: 100,
  warmSeconds: 2,
  warmEvents: 30_000,
  warmLiveSeconds: 10,
  saturationSeconds: 2,
  otherStreams: 64,
  shortStreams: 16,
  shortEvents: 30,
  liveStreams: 256,
  floodStreams: 64,
  floodDepth: 256,
  floodBlock: 32,
  heldStreams: 1_000,
  costRate: 2_000,
  costStreams: [1_000, 100, 1],
  costSeconds: 2,
};

const QUICK: Settings = {
  ...FULL,
  name: "quick",
  repeats: 1,
  rateStreams: [1, 128],
  rateSeconds: 1,
  probes: 30,
  warmSeconds: 1,
  warmEvents: 15_000,
  warmLiveSeconds: 2,
  saturationSeconds: 1,
  costStreams: [1_000, 1],
  costSeconds: 1,
};

/** What `--quick` leaves out: no aim and no other load needs it. */
const NOT_QUICK = new Set(["nginx", "recording-pipe", "enforce-each"]);

/**
 * Whether a part of a variant is measured: all of those of `--only pipe,enforce-each`, to work on
 * one of them, and of direct; with `--quick` less.
 */
export function isMeasured(args: readonly string[], id: string, part: Part): boolean {
  const flag = args.indexOf("--only");
  if (flag !== -1) return id === "direct" || (args[flag + 1] ?? "").split(",").includes(id);
  return !args.includes("--quick") || part !== "rates" || !NOT_QUICK.has(id);
}

/** Reads `--quick` and `--repeats N`. */
export function readSettings(args: readonly string[]): Settings {
  const settings = args.includes("--quick") ? QUICK : FULL;
  const flag = args.indexOf("--repeats");
  if (flag === -1) return settings;
  const repeats = Number(args[flag + 1]);
  if (!Number.isInteger(repeats) || repeats < 1) throw new TypeError("--repeats takes a number");
  return { ...settings, repeats };
}
