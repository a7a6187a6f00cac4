/**
 * Several gateways on one PostgreSQL, with and without Redis: what a gateway more adds and costs, beside one gateway and a
 * bare pipe, in one run.
 *
 * npm run bench -- cluster [--quick] [--gateways 1,2,4]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "./cluster/gateways.js";
import type { Cluster } from "./cluster/gateways.js";
import { measureResumes } from "./cluster/resume.js";
import type { Resumes } from "./cluster/resume.js";
import { startServer } from "./gateway/bare-server.js";
import { liveOnFew, paced } from "./gateway/loads.js";
import { warmUp } from "./gateway/measure-variant.js";
import { measureLoad, startEnds } from "./gateway/session.js";
import type { Measured } from "./gateway/session.js";
import { readSettings } from "./gateway/settings.js";
import type { Running } from "./gateway/variant.js";
import { median } from "./statistics.js";

const args = process.argv.slice(2);
const isQuick = args.includes("--quick");
const valueOf = (flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
const counts = (valueOf("--gateways") ?? "1,2,4").split(",").map(Number);
const rounds = isQuick ? 1 : 3;
const RESUMES = isQuick ? 5 : 20;
const PIPE = "bare pipe";
/** Streams at the pace of models, and streams that are as fast as possible. */
const STREAMS = 64;
const settings = {
  ...readSettings(isQuick ? ["--quick"] : []),
  rate: 20,
  otherStreams: STREAMS,
  warmLiveSeconds: isQuick ? 2 : 5,
  rateSeconds: isQuick ? 1 : 3,
};

type Row = {
  readonly name: string;
  readonly gateways: number;
  readonly live: Measured[];
  readonly calm: Measured[];
  /** Microseconds of the database for an event, live. */
  readonly database: number[];
  own?: Resumes;
  other?: Resumes;
};

const directory = mkdtempSync(join(tmpdir(), "countersign-cluster-"));
const ends = await startEnds();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

/** What runs between the ends during all rounds, and what was measured of it so far. */
type Variant = {
  readonly row: Row;
  readonly running: Running;
  readonly cluster?: Cluster;
  sent: number;
};

const sentEvents = async (): Promise<number> => (await ends.agent.calls.tally()).events;

async function startPipe(): Promise<Variant> {
  const place = { agentPort: ends.agentPort, directory: join(directory, "pipe"), forMemory: false };
  mkdirSync(place.directory);
  const running = await startServer("pipe", place);
  await warmUp(ends, running, settings);
  const row = { name: PIPE, gateways: 1, live: [], calm: [], database: [] };
  return { row, running, sent: 0 };
}

async function startVariant(gateways: number, redis: boolean): Promise<Variant> {
  const name = `${gateways} ${gateways === 1 ? "gateway" : "gateways"}${redis ? ", Redis" : ""}`;
  const place = join(directory, `${gateways}${redis ? "-redis" : ""}`);
  const { agentPort } = ends;
  const cluster = await startCluster({ gateways, redis, directory: place, agentPort });
  const before = await sentEvents();
  await warmUp(ends, cluster.running, settings);
  const row = { name, gateways, live: [], calm: [], database: [] };
  return { row, running: cluster.running, cluster, sent: (await sentEvents()) - before };
}

async function measureRound(variant: Variant): Promise<void> {
  const { row, running, cluster } = variant;
  const before = await sentEvents();
  const used = cluster?.databaseMicroseconds() ?? 0;
  row.live.push(await measureLoad(ends, running, liveOnFew(settings)));
  const events = (await sentEvents()) - before;
  if (cluster !== undefined) row.database.push((cluster.databaseMicroseconds() - used) / events);
  row.calm.push(await measureLoad(ends, running, paced(settings, STREAMS)));
  variant.sent += (await sentEvents()) - before;
}

/** Breaks streams, and resumes them at the same gateway and at another one. */
async function measureReturns({ row, cluster }: Variant): Promise<void> {
  const [first, second] = cluster?.ports ?? [];
  if (first === undefined) return;
  // Many events for few streams: some are missed in every pause.
  await ends.agent.calls.plan({ kind: "even", eventsPerSecond: 2_000 });
  row.own = await measureResumes(first, first, RESUMES);
  await ends.agent.calls.finish();
  // Without Redis, a stream resumes at its own gateway alone.
  if (second === undefined || cluster?.hasRedis !== true) return;
  await ends.agent.calls.plan({ kind: "even", eventsPerSecond: 2_000 });
  row.other = await measureResumes(first, second, RESUMES);
  await ends.agent.calls.finish();
}

const variants: Variant[] = [];
const say = (what: string): void => void process.stderr.write(`${what}\n`);
try {
  variants.push(await startPipe());
  for (const gateways of counts) {
    // Redis matters between two; more gateways show the growth.
    for (const redis of gateways === 2 ? [false, true] : [false]) {
      variants.push(await startVariant(gateways, redis));
      say(`${variants.at(-1)?.row.name} ready`);
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    say(`round ${round + 1} of ${rounds}`);
    const turns = round % 2 === 0 ? variants : variants.toReversed();
    for (const variant of turns) await measureRound(variant);
  }
  for (const variant of variants) {
    variant.cluster?.check(variant.sent);
    await measureReturns(variant);
    say(`${variant.row.name} checked`);
  }
} finally {
  for (const { running, cluster } of variants) await (cluster ?? running).stop();
  await Promise.all([ends.agent.stop(), ends.client.stop()]);
  rmSync(directory, { recursive: true, force: true });
}
const rows = variants.map(({ row }) => row);

function lineOf({ name, live, calm, database, own, other }: Row): string {
  const of = (all: readonly Measured[], read: (one: Measured) => number): number =>
    median(all.map(read));
  const pipe = rows.find((row) => row.name === PIPE);
  const one = rows.find((row) => row.name === "1 gateway");
  const rate = of(live, ({ eventsPerSecond }) => eventsPerSecond);
  const cost = of(live, ({ processorMicroseconds }) => processorMicroseconds);
  const added = (read: (one: Measured) => number): string => {
    if (pipe === undefined || name === pipe.name) return of(calm, read).toFixed(1);
    return `+${(of(calm, read) - of(pipe.calm, read)).toFixed(1)}`;
  };
  const ratio = (): string => {
    const rates = live.map(({ eventsPerSecond }, round) => {
      return eventsPerSecond / (one?.live[round]?.eventsPerSecond ?? Number.NaN);
    });
    return `${median(rates).toFixed(2)}×`;
  };
  const cells = [
    name,
    Math.round(rate).toLocaleString("en"),
    database.length === 0 ? "" : ratio(),
    cost.toFixed(1),
    database.length === 0 ? "" : median(database).toFixed(1),
    added(({ delay }) => delay.p50),
    added(({ delay }) => delay.p99),
    resumeText(own),
    resumeText(other),
  ];
  return `| ${cells.join(" | ")} |`;
}

function resumeText(resumes: Resumes | undefined): string {
  if (resumes === undefined) return "";
  const { middle, slowest, resumed, attempts, refused } = resumes;
  if (resumed === 0) return `none of ${attempts} (${refused})`;
  const times = `${middle.toFixed(1)} (${slowest.toFixed(0)})`;
  return resumed === attempts ? times : `${times}, ${resumed} of ${attempts}`;
}

const table = [
  "| what | events/s | to one gateway | µs of the gateways | µs of the database | p50, ms | p99, ms | resumed at the same gateway, ms | at another, ms |",
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  ...rows.map(lineOf),
].join("\n");
process.stdout.write(`\n${table}\n`);
if (!isQuick && args.length === 0) {
  const results = new URL("../results/", import.meta.url);
  mkdirSync(results, { recursive: true });
  const foreign = Math.max(...rows.flatMap(({ live }) => live.map((one) => one.foreignShare)));
  const heading = `# Several gateways on one machine\n\n\`npm run bench -- cluster\`: by turns, median of ${rounds}, ${STREAMS} streams, \`sign: batch\`, \`durability: strict\`, PostgreSQL with fsync on the same two cores, Node ${process.version}. Events per second and processor time are live (every event in its own packet, one of each stream in flight); delays at ${settings.rate} events a second and stream, beyond those of the pipe; a resume is the time to the first missed event, median (slowest). Other work used at most ${Math.round(foreign * 100)} % of the machine, the database included.\n\n`;
  writeFileSync(new URL("cluster.md", results), `${heading}${table}\n`);
  writeFileSync(new URL("cluster.json", results), `${JSON.stringify(rows, undefined, 2)}\n`);
}
