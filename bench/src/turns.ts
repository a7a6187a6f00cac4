/**
 * Whether a change made the gateway faster: the built gateways of two checkouts and a bare pipe,
 * all running, measured alternately in one session. The speed of a shared machine changes within
 * minutes; neighbouring pairs can be compared.
 *
 * npm run bench -- turns [--beside CHECKOUT] [--rounds N] [--only LOAD,LOAD]
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startServer } from "./gateway/bare-server.js";
import { startCountersign } from "./gateway/countersign.js";
import { measureLoad, startEnds } from "./gateway/session.js";
import type { Measured } from "./gateway/session.js";
import { readSettings } from "./gateway/settings.js";
import { LOADS } from "./gateway/loads.js";
import { warmUp } from "./gateway/measure-variant.js";
import { spreadOf } from "./gateway/statistics.js";
import type { Place, Running, Setup } from "./gateway/variant.js";

type Figure = readonly [label: string, read: (one: Measured) => number, digits: number];

/** Ratios are of cost and speed, differences of times. */
const RATIOS: readonly Figure[] = [
  ["events/s", ({ eventsPerSecond }) => eventsPerSecond, 0],
  ["µs", ({ processorMicroseconds }) => processorMicroseconds, 1],
];
const TIMES: readonly Figure[] = [
  ["first p50", ({ first }) => first.p50, 2],
  ["first p99", ({ first }) => first.p99, 1],
  ["p50", ({ delay }) => delay.p50, 2],
  ["p99", ({ delay }) => delay.p99, 1],
];

const args = process.argv.slice(2);
const valueOf = (flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
const refuse = (why: string): never => {
  process.stderr.write(`turns: ${why}\n`);
  process.exit(2);
};
const rounds = Number(valueOf("--rounds") ?? 6);
if (!Number.isInteger(rounds) || rounds < 1) refuse("--rounds takes a number from 1 on");
const beside = valueOf("--beside");
if (beside !== undefined && !existsSync(join(beside, "apps/cli/dist/main.js"))) {
  refuse(`${beside} is not a built checkout: npm ci && npm run build there first`);
}
const settings = { ...readSettings([]), rateSeconds: 4, probes: 60 };
const only = valueOf("--only")?.split(",") ?? ["first", "paced", "live", "flood"];
const loads = only.map((name) => {
  const load = LOADS[name];
  if (load === undefined) {
    return refuse(`--only takes any of ${Object.keys(LOADS).join(", ")}, not ${name}`);
  }
  return { name, what: load.of(settings), setup: load.setup };
});

const directory = mkdtempSync(join(tmpdir(), "countersign-turns-"));
const ends = await startEnds();
/** What runs between the ends, by the setup that it has and by name. */
const running = new Map<string, Map<string, Running>>();
const found = new Map<string, Measured[]>();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
try {
  for (const { setup } of loads) {
    if (!running.has(JSON.stringify(setup))) await startAll(setup);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { name: load, what, setup } of loads) {
      const all = [...between(setup)];
      for (const [name, each] of round % 2 === 0 ? all : all.toReversed()) {
        const measured = await measureLoad(ends, each, what);
        const key = `${load} ${name}`;
        found.set(key, [...(found.get(key) ?? []), measured]);
        process.stdout.write(`${round + 1}/${rounds} ${lineOf(key, [measured])}\n`);
      }
    }
  }
  for (const { name: load, setup } of loads) {
    const names = [...between(setup).keys()];
    for (const name of names) {
      const key = `${load} ${name}`;
      process.stdout.write(`${lineOf(key, found.get(key) ?? [])}\n`);
    }
    for (const name of names.slice(1)) process.stdout.write(`${compare(load, name)}\n`);
  }
} finally {
  for (const each of [...running.values()].flatMap((all) => [...all.values()])) {
    await each.stop();
    await each.release?.();
  }
  await Promise.all([ends.agent.stop(), ends.client.stop()]);
  rmSync(directory, { recursive: true, force: true });
}

function between(setup: Setup): ReadonlyMap<string, Running> {
  return running.get(JSON.stringify(setup)) ?? new Map();
}

/** Starts the pipe and the gateways of both checkouts with a setup, and warms them up. */
async function startAll(setup: Setup): Promise<void> {
  const started = new Map<string, Running>();
  const key = JSON.stringify(setup);
  running.set(key, started);
  const place = (name: string): Place => {
    const own = join(directory, `${running.size}-${name}`);
    mkdirSync(own);
    return { agentPort: ends.agentPort, directory: own, forMemory: false, ...setup };
  };
  started.set("pipe", await startServer("pipe", place("pipe")));
  started.set("here", await startCountersign(place("here")));
  if (beside !== undefined) {
    started.set("there", await startCountersign(place("there"), resolve(beside)));
  }
  for (const each of started.values()) await warmUp(ends, each, settings);
}

/** Figures of one gateway under one load: the median with minimum and maximum. */
function lineOf(key: string, measured: readonly Measured[]): string {
  const figures = [...TIMES, ...RATIOS].map(([label, read, digits]) =>
    show(label, measured.map(read), digits),
  );
  return `${key.padEnd(12)} ${figures.filter(Boolean).join("  ")}`;
}

/** Each round's figures against those of the pipe in that round. */
function compare(load: string, name: string): string {
  const [own, pipe] = [found.get(`${load} ${name}`) ?? [], found.get(`${load} pipe`) ?? []];
  const pairs = own.flatMap((one, round) => {
    const beside = pipe[round];
    return beside === undefined ? [] : [{ one, beside }];
  });
  const figures = [
    ...TIMES.map(([label, read]) =>
      show(
        `${label} +`,
        pairs.map(({ one, beside }) => read(one) - read(beside)),
        2,
      ),
    ),
    ...RATIOS.map(([label, read]) =>
      show(
        `${label} ×`,
        pairs.map(({ one, beside }) => read(one) / read(beside)),
        2,
      ),
    ),
  ];
  return `${load} ${name} to pipe  ${figures.filter(Boolean).join("  ")}`;
}

function show(label: string, values: readonly number[], digits: number): string {
  const { middle, low, high } = spreadOf(values);
  if (!Number.isFinite(middle)) return "";
  const [a, b, c] = [middle, low, high].map((value) => value.toFixed(digits));
  return values.length === 1 ? `${label} ${a}` : `${label} ${a} (${b}–${c})`;
}
