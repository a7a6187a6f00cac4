// The numbers of docs/explain/a-million-events.md: a million events a second in one log per shard, from measured costs.
// node scripts/simulate-shards.mjs [--write] (into the page)
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Measured on two shared cores; the page says with which command. */
export const MEASURED = {
  // npm run bench -- gateway, enforce, batch: live (one packet an event) and flood (32 together).
  gatewayMicroseconds: { live: 98.8, flood: 39.8 },
  // npm run bench -- postgres: the server, and a transaction of 32 entries with its flush.
  serverMicroseconds: 7.8,
  transactionMilliseconds: 2.2,
  entryBytes: 1_500,
  // npm run bench -- receipts: an export with batch signatures on two cores.
  verifiedPerSecond: 65_547,
};

export const PLAN = {
  eventsPerSecond: 1_000_000,
  /** Events of a stream in a second, as a model writes. */
  streamRate: 50,
  /** Share of a core that is planned for. */
  busy: 0.6,
  /** Entries of one transaction at most; the gateway's `flushSize`. */
  flush: 2_048,
  signature: 150,
};

const PAGE = fileURLToPath(new URL("../docs/explain/a-million-events.md", import.meta.url));
const MARKS = ["<!-- simulation -->", "<!-- end -->"];

/** Equal numbers in every run. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function mix(left, right) {
  let value = Math.imul(left ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(right + 1, 0xc2b2ae35);
  value ^= value >>> 15;
  value = Math.imul(value, 0x2c1b3c6d);
  value ^= value >>> 12;
  value = Math.imul(value, 0x297a2d39);
  return (value ^ (value >>> 15)) >>> 0;
}

/** Rendezvous hashing: the shard with the highest hash for the thread. */
export function shardOf(thread, shards) {
  let best = 0;
  let highest = -1;
  for (let shard = 0; shard < shards; shard += 1) {
    const hash = mix(thread, shard);
    if (hash > highest) [best, highest] = [shard, hash];
  }
  return best;
}

/** Events a second of each shard, for streams whose rates differ from a tenth to four times the usual one. */
function loadsOf(shards) {
  const random = createRandom(7);
  const streams = PLAN.eventsPerSecond / PLAN.streamRate;
  const loads = Array.from({ length: shards }, () => 0);
  let moved = 0;
  let all = 0;
  for (let thread = 0; thread < streams; thread += 1) {
    const rate = PLAN.streamRate * 0.1 * 40 ** random();
    const shard = shardOf(thread, shards);
    loads[shard] += rate;
    all += rate;
    if (shardOf(thread, shards + 1) !== shard) moved += 1;
  }
  const scale = PLAN.eventsPerSecond / all;
  return { loads: loads.map((load) => load * scale), moved: moved / streams };
}

/**
 * Group commit of one shard, transaction by transaction for ten seconds: entries that arrive during a transaction share the
 * next one. Returns milliseconds that an entry waits for its commit.
 */
function waitsOf(eventsPerSecond) {
  const random = createRandom(11);
  const waits = [];
  const perEntry = MEASURED.serverMicroseconds / 1_000;
  let [now, since] = [0, 0];
  let waiting = 0;
  while (now < 10_000) {
    // Poisson arrivals, as their normal approximation.
    const mean = (eventsPerSecond * (now - since)) / 1_000;
    const spread = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const arrived = Math.max(0, Math.round(mean + Math.sqrt(mean) * spread));
    waiting += arrived;
    const taken = Math.min(waiting, PLAN.flush);
    const jitter = 0.7 + 0.6 * random() + (random() < 0.01 ? 10 : 0);
    const took = MEASURED.transactionMilliseconds * jitter + taken * perEntry;
    const queued = (waiting - taken) / (eventsPerSecond / 1_000);
    if (taken > 0) waits.push({ wait: queued + (now - since) / 2 + took, taken });
    waiting -= taken;
    since = now;
    now += took;
  }
  const sorted = waits.toSorted((left, right) => left.wait - right.wait);
  const total = sorted.reduce((sum, { taken }) => sum + taken, 0);
  const at = (share) => {
    let seen = 0;
    for (const { wait, taken } of sorted) {
      seen += taken;
      if (seen >= share * total) return wait;
    }
    return Number.NaN;
  };
  return { p50: at(0.5), p99: at(0.99), behind: waiting > 5 * PLAN.flush };
}

/** One row: a number of shards. */
export function simulate(shards) {
  const { loads, moved } = loadsOf(shards);
  const heaviest = Math.max(...loads);
  const normal = waitsOf(heaviest);
  // A shard that fails gives its threads to all others.
  const failed = waitsOf(heaviest * (shards / (shards - 1)));
  return {
    shards,
    mean: PLAN.eventsPerSecond / shards,
    heaviest,
    p50: normal.p50,
    p99: normal.behind ? Number.POSITIVE_INFINITY : normal.p99,
    failedP99: failed.behind ? Number.POSITIVE_INFINITY : failed.p99,
    serverCores: (heaviest * MEASURED.serverMicroseconds) / 1e6 / PLAN.busy,
    moved,
  };
}

const whole = (value) => Math.round(value).toLocaleString("en");
const milliseconds = (value) => (Number.isFinite(value) ? value.toFixed(1) : "falls behind");

/** The tables of the page. */
export function tables() {
  const { eventsPerSecond, busy, signature } = PLAN;
  const rows = [10, 16, 24, 32, 48, 64].map(simulate);
  const { live, flood } = MEASURED.gatewayMicroseconds;
  const cores = (microseconds) => Math.ceil((eventsPerSecond * microseconds) / 1e6 / busy);
  const bytes = eventsPerSecond * MEASURED.entryBytes;
  const totals = [
    ["gateway cores, every event in its own packet", whole(cores(live))],
    ["gateway cores, 32 events together", whole(cores(flood))],
    ["PostgreSQL cores over all shards", whole(cores(MEASURED.serverMicroseconds))],
    [
      "rows on disk",
      `${(bytes / 1e9).toFixed(1)} GB/s, ${whole((bytes * 86_400) / 1e12)} TB a day`,
    ],
    [
      "cores of an auditor who verifies all of it as it grows",
      whole((eventsPerSecond / MEASURED.verifiedPerSecond) * 2),
    ],
    [
      "index over 32 shards, one checkpoint a second",
      `${whole(32 * (32 + 8 + signature))} bytes/s`,
    ],
  ];
  const table = (head, align, lines) =>
    [head, align, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  return [
    table(
      [
        "shards",
        "events/s each",
        "heaviest",
        "commit p50, ms",
        "p99, ms",
        "p99, one shard failed",
        "PostgreSQL cores each",
        "threads moved by one shard more",
      ],
      ["---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:"],
      rows.map((row) => [
        row.shards,
        whole(row.mean),
        whole(row.heaviest),
        milliseconds(row.p50),
        milliseconds(row.p99),
        milliseconds(row.failedP99),
        row.serverCores.toFixed(2),
        `${(row.moved * 100).toFixed(1)} %`,
      ]),
    ),
    table(["total", "figure"], ["---", "---:"], totals),
  ].join("\n\n");
}

/** The page with the tables of this run. */
export function render(page) {
  const [before, rest] = page.split(MARKS[0]);
  const after = rest.split(MARKS[1])[1];
  return `${before}${MARKS[0]}\n\n${tables()}\n\n${MARKS[1]}${after}`;
}

export const readPage = () => readFileSync(PAGE, "utf8");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes("--write")) writeFileSync(PAGE, render(readPage()));
  process.stdout.write(`${tables()}\n`);
}
