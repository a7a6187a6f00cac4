/** How much is measured, and for how long; seconds per piece of load. */
export type Settings = {
  readonly name: "full" | "quick";
  readonly repeats: number;
  /** Events per second of one stream, as a model writes. */
  readonly rate: number;
  readonly rateStreams: readonly number[];
  readonly rateSeconds: number;
  /** Seconds of a run on average: an answer of a few hundred words. */
  readonly runSeconds: number;
  readonly sequenceRuns: number;
  readonly warmSeconds: number;
  /** Events of a flood that a process carries before anything counts. */
  readonly warmEvents: number;
  /**
   * Seconds of live events behind those. A flood warms the road of large groups only: on the road of single events the optimising compiler
   * was seen to take a tenth of all processor time for some ten seconds more.
   */
  readonly warmLiveSeconds: number;
  readonly saturationSeconds: number;
  /** Streams that carry one event each at any time. */
  readonly liveStreams: number;
  readonly floodStreams: number;
  /** Events on their way in a flood, per stream, and how many of them the agent writes at once. */
  readonly floodDepth: number;
  readonly floodBlock: number;
  readonly heldStreams: number;
  /** The same events per second dealt to fewer and more streams. */
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
  sequenceRuns: 150,
  warmSeconds: 2,
  warmEvents: 30_000,
  warmLiveSeconds: 12,
  saturationSeconds: 2,
  liveStreams: 256,
  floodStreams: 64,
  floodDepth: 256,
  floodBlock: 32,
  heldStreams: 1_000,
  costRate: 2_000,
  costStreams: [1_000, 100, 10, 1],
  costSeconds: 2,
};

const QUICK: Settings = {
  ...FULL,
  name: "quick",
  repeats: 1,
  rateStreams: [1, 128],
  rateSeconds: 1,
  sequenceRuns: 40,
  warmEvents: 15_000,
  warmLiveSeconds: 3,
  saturationSeconds: 1,
  costStreams: [1_000, 1],
  costSeconds: 1,
};

/** The variants that are left by `--only pipe,observe`, for whoever works on one, or by `--quick`; direct always stays. */
export function readOnly(args: readonly string[]): readonly string[] | undefined {
  const flag = args.indexOf("--only");
  if (flag !== -1) return ["direct", ...(args[flag + 1] ?? "").split(",")];
  return args.includes("--quick") ? ["direct", "pipe", "enforce-batch"] : undefined;
}

/** Reads `--quick`, and `--repeats N` for whoever wants more. */
export function readSettings(args: readonly string[]): Settings {
  const settings = args.includes("--quick") ? QUICK : FULL;
  const flag = args.indexOf("--repeats");
  if (flag === -1) return settings;
  const repeats = Number(args[flag + 1]);
  if (!Number.isInteger(repeats) || repeats < 1) throw new TypeError("--repeats takes a number");
  return { ...settings, repeats };
}
