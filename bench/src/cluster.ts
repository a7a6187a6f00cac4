/**
 * Several gateways on one PostgreSQL, with and without Redis: what a gateway more adds and costs, beside one gateway and a
 * bare pipe, in one sitting.
 *
 * npm run bench -- cluster [--quick] [--gateways 1,2,4]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "./cluster/gateways.js";
import { measureResumes } from "./cluster/resume.js";
import type { Resumes } from "./cluster/resume.js";
import { startServer } from "./gateway/bare-server.js";
import { liveOnFew, paced } from "./gateway/loads.js";
import { warmUp } from "./gateway/measure-variant.js";
import { measureLoad, startEnds } from "./gateway/session.js";
import type { Measured } from "./gateway/session.js";
import { readSettings } from "./gateway/settings.js";
import { median } from "./statistics.js";

const args = process.argv.slice(2);
const isQuick = args.includes("--quick");
const valueOf = (flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
const counts = (valueOf("--gateways") ?? "1,2,4").split(",").map(Number);
const rounds = isQuick ? 1 : 3;
const RESUMES = isQuick ? 5 : 20;
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
  readonly live: readonly Measured[];
  readonly calm: readonly Measured[];
  /** Microseconds of the database for an event, live. */
  readonly database: readonly number[];
  readonly own?: Resumes;
  readonly other?: Resumes;
};

const directory = mkdtempSync(join(tmpdir(), "countersign-cluster-"));
const ends = await startEnds();
const rows: Row[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

async function measurePipe(): Promise<Row> {
  const place = { agentPort: ends.agentPort, directory: join(directory, "pipe"), forMemory: false };
  mkdirSync(place.directory);
  const pipe = await startServer("pipe", place);
  try {
    await warmUp(ends, pipe, settings);
    const [live, calm]: [Measured[], Measured[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      live.push(await measureLoad(ends, pipe, liveOnFew(settings)));
      calm.push(await measureLoad(ends, pipe, paced(settings, STREAMS)));
    }
    return { name: "bare pipe", gateways: 1, live, calm, database: [] };
  } finally {
    await pipe.stop();
  }
}

async function measureCluster(gateways: number, redis: boolean): Promise<Row> {
  const name = `${gateways} ${gateways === 1 ? "gateway" : "gateways"}${redis ? ", Redis" : ""}`;
  const place = join(directory, `${gateways}${redis ? "-redis" : ""}`);
  const { events } = await ends.agent.calls.tally();
  const said = (what: string): void => void process.stderr.write(`${name}: ${what}\n`);
  said("starting");
  const cluster = await startCluster({
    gateways,
    redis,
    directory: place,
    agentPort: ends.agentPort,
  });
  try {
    await warmUp(ends, cluster.running, settings);
    const [live, calm, database]: [Measured[], Measured[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round += 1) {
      const [before, sent] = [
        cluster.databaseMicroseconds(),
        (await ends.agent.calls.tally()).events,
      ];
      said(`round ${round + 1}`);
      live.push(await measureLoad(ends, cluster.running, liveOnFew(settings)));
      const all = (await ends.agent.calls.tally()).events - sent;
      database.push((cluster.databaseMicroseconds() - before) / all);
      calm.push(await measureLoad(ends, cluster.running, paced(settings, STREAMS)));
    }
    said("checking the log");
    cluster.check((await ends.agent.calls.tally()).events - events);
    said("resuming");
    await ends.agent.calls.plan({ kind: "even", eventsPerSecond: 100 });
    const [first = 0, second] = cluster.ports;
    const own = await measureResumes(first, first, RESUMES);
    if (second === undefined) return { name, gateways, live, calm, database, own };
    const other = await measureResumes(first, second, RESUMES);
    return { name, gateways, live, calm, database, own, other };
  } finally {
    await ends.agent.calls.finish();
    await cluster.stop();
  }
}

try {
  rows.push(await measurePipe());
  for (const gateways of counts) {
    // Redis matters between two; more gateways show the growth.
    for (const redis of gateways === 2 ? [false, true] : [false]) {
      const row = await measureCluster(gateways, redis);
      rows.push(row);
      process.stdout.write(`${lineOf(row)}\n`);
    }
  }
} finally {
  await Promise.all([ends.agent.stop(), ends.client.stop()]);
  rmSync(directory, { recursive: true, force: true });
}

function lineOf({ name, live, calm, database, own, other }: Row): string {
  const of = (all: readonly Measured[], read: (one: Measured) => number): number =>
    median(all.map(read));
  const pipe = rows.find((row) => row.name === "bare pipe");
  const one = rows.find((row) => row.name === "1 gateway");
  const rate = of(live, ({ eventsPerSecond }) => eventsPerSecond);
  const cost = of(live, ({ processorMicroseconds }) => processorMicroseconds);
  const added = (read: (one: Measured) => number): string => {
    if (pipe === undefined || name === pipe.name) return of(calm, read).toFixed(1);
    return `+${(of(calm, read) - of(pipe.calm, read)).toFixed(1)}`;
  };
  const ratio = (): string => {
    if (one === undefined || name === "1 gateway") return "1.00×";
    return `${(rate / of(one.live, ({ eventsPerSecond }) => eventsPerSecond)).toFixed(2)}×`;
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
  const heading = `# Several gateways on one machine\n\n\`npm run bench -- cluster\`: median of ${rounds}, ${STREAMS} streams, \`sign: batch\`, \`durability: strict\`, PostgreSQL with fsync on the same two cores, Node ${process.version}. Events per second and processor time are live (every event in its own packet, one of each stream in flight); delays at ${settings.rate} events a second and stream, beyond those of the pipe; a resume is the time to the first missed event, median (slowest). Other work used at most ${Math.round(foreign * 100)} % of the machine, the database included.\n\n`;
  writeFileSync(new URL("cluster.md", results), `${heading}${table}\n`);
  writeFileSync(new URL("cluster.json", results), `${JSON.stringify(rows, undefined, 2)}\n`);
}
