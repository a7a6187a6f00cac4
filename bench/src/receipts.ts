import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createSigner, generateKey } from "@countersign/core/sign";
import { openLog } from "@countersign/receipts/log";
import type { EntryDraft, ReceiptLog, ReceiptStore } from "@countersign/receipts/log";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { createSigningPool } from "@countersign/receipts/sign";
import type { SignMode } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { startPostgres } from "@countersign/testkit";
import {
  flushedBytes,
  opensslSigns,
  rawPostgresRows,
  rawSqliteRows,
  startSodiumMeter,
} from "./receipts-limits.js";
import { measureIndexing } from "./receipts-index.js";
import { mainThreadMicroseconds } from "./receipts-threads.js";
import { measureVerification } from "./receipts-verification.js";
import { median } from "./statistics.js";

// Signed and durable entries of the log per second, compared with the limits of this machine.
const flag = process.argv.indexOf("--entries");
const entries = flag === -1 ? 100_000 : Number(process.argv[flag + 1]);
const roundsFlag = process.argv.indexOf("--rounds");
const rounds = roundsFlag === -1 ? 5 : Number(process.argv[roundsFlag + 1]);
const growFlag = process.argv.indexOf("--grow");
const grown = growFlag === -1 ? 1_000_000 : Number(process.argv[growFlag + 1]);
// Number of concurrent appends: streams that each append an event, or events that arrived together.
const STREAMS = 2_000;
const TOGETHER = 32;

function draftOf(number: number): EntryDraft {
  return {
    direction: "outbound",
    mode: "enforce",
    policy_hash: "ef".repeat(32),
    rule: "rules.ag_ui.restricted",
    run_id: `run_${Math.floor(number / 200)}`,
    thread_id: `thread_${number % 50}`,
    receipt: {
      agent_id: "agent-support",
      allowed: true,
      capability_id: "<none>",
      classification: "submit",
      event_id: `evt_${String(number).padStart(26, "0")}`,
      event_type: "form_action",
      payload_hash: "cd".repeat(32),
      session_id: `sess_${number % 50}`,
      target: { component_type: "modal", component_id: "confirm-refund" },
      timestamp: 1_744_993_928,
      transport: "sse",
    },
  };
}

type Work = {
  readonly rate: number;
  readonly cpuMicroseconds: number;
  readonly mainMicroseconds: number;
  readonly loopBusy: number;
};

let next = 0;
async function appendMany(log: ReceiptLog, count: number, together = TOGETHER): Promise<Work> {
  const first = next;
  const end = next + count;
  const cpu = process.cpuUsage();
  const loop = performance.eventLoopUtilization();
  const main = mainThreadMicroseconds() ?? 0;
  const start = performance.now();
  const stream = async (): Promise<void> => {
    while (next < end) {
      if (together === 1) await log.append(draftOf(next++));
      else await log.appendAll(Array.from({ length: together }, () => draftOf(next++)));
    }
  };
  await Promise.all(Array.from({ length: Math.ceil(STREAMS / together) }, stream));
  const done = next - first;
  const milliseconds = performance.now() - start;
  const used = process.cpuUsage(cpu);
  return {
    rate: (done * 1_000) / milliseconds,
    cpuMicroseconds: (used.user + used.system) / done,
    mainMicroseconds: ((mainThreadMicroseconds() ?? 0) - main) / done,
    loopBusy: performance.eventLoopUtilization(loop).utilization,
  };
}

async function openOver(store: ReceiptStore, sign: SignMode): Promise<ReceiptLog> {
  return openLog({
    store,
    signer: await createSigningPool(generateKey()),
    checkpointSigner: createSigner(generateKey()),
    origin: "bench.example/log",
    sign,
  });
}

const rows: string[][] = [];
const say = (name: string, value: string, remark = ""): void => {
  rows.push([name, value, remark]);
  process.stdout.write(`${name.padEnd(52)} ${value.padStart(14)}  ${remark}\n`);
};
const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString("en")}/s`;
const figures: Record<string, number | number[]> = { entries };

const directory = await mkdtemp(join(tmpdir(), "countersign-bench-"));
const meter = await startSodiumMeter();
const postgres = await startPostgres({ settings: { fsync: "on" } });
try {
  const openssl = await opensslSigns();
  if (openssl !== undefined) say("openssl speed ed25519, all cores", perSecond(openssl));
  figures["openssl"] = openssl ?? 0;
  const flushed = await flushedBytes(directory);
  say("append and fdatasync, 256 KiB pieces", `${Math.round(flushed / 1e6)} MB/s`);
  figures["flushedBytesPerSecond"] = flushed;

  // libsodium is measured before and after each part, so that a busy neighbour slows both equally.
  for (const sign of ["each", "batch"] as const) {
    // Ten times the concurrent appends, so that the start and the end are a small part of the
    // measurement, as for libsodium, which is measured for a whole second.
    const part = Math.max(1_000, Math.floor(entries / rounds));
    const store = await openSqliteStore({ directory: join(directory, sign) });
    const log = await openOver(store, sign);
    // The compilers of three threads have finished after about this many.
    await appendMany(log, 40_000);
    const shares: number[] = [];
    const rates: number[] = [];
    const limits: number[] = [];
    const cpu: number[] = [];
    const cpuShares: number[] = [];
    const mains: number[] = [];
    let before = await meter.measure(500);
    for (let round = 0; round < rounds; round += 1) {
      // The index catches up between the parts: this line measures appending.
      await store.count({});
      const { rate, cpuMicroseconds, mainMicroseconds } = await appendMany(log, part);
      mains.push(mainMicroseconds);
      await store.count({});
      const after = await meter.measure(500);
      rates.push(rate);
      cpu.push(cpuMicroseconds);
      const limit = (before.rate + after.rate) / 2;
      limits.push(limit);
      shares.push(rate / limit);
      cpuShares.push((before.cpuMicroseconds + after.cpuMicroseconds) / 2 / cpuMicroseconds);
      before = after;
    }
    const share = median(shares);
    const remark = `${Math.round(share * 100)} % of libsodium on all cores (${perSecond(median(limits))}), best part ${perSecond(Math.max(...rates))}, ${median(cpu).toFixed(1)} µs of processor an entry (${Math.round(median(cpuShares) * 100)} % by processor time), ${median(mains).toFixed(1)} µs of it on the event loop`;
    say(`embedded, ${sign}, strict`, perSecond(median(rates)), remark);
    figures[`embedded.${sign}`] = median(rates);
    figures[`embedded.${sign}.best`] = Math.max(...rates);
    figures[`embedded.${sign}.shareOfLibsodium`] = share;
    figures[`embedded.${sign}.cpuMicroseconds`] = median(cpu);
    figures[`embedded.${sign}.shareByProcessorTime`] = median(cpuShares);
    figures[`embedded.${sign}.mainMicroseconds`] = median(mains);
    figures[`libsodium.${sign}`] = median(limits);
    const singly = await appendMany(log, part, 1);
    await store.count({});
    say(
      `embedded, ${sign}, strict, one by one`,
      perSecond(singly.rate),
      `${singly.cpuMicroseconds.toFixed(1)} µs of processor an entry, ${singly.mainMicroseconds.toFixed(1)} µs of it on the event loop`,
    );
    figures[`embedded.${sign}.oneByOne`] = singly.rate;
    const start = performance.now();
    const sustained = await appendMany(log, part * 2);
    await store.count({});
    const indexed = (part * 2 * 1_000) / (performance.now() - start);
    say(
      `embedded, ${sign}, strict, and indexed`,
      perSecond(indexed),
      `event loop busy ${Math.round(sustained.loopBusy * 100)} %`,
    );
    figures[`embedded.${sign}.indexed`] = indexed;
    await log.close();
  }

  const verified = await measureVerification(directory, entries, draftOf);
  for (const sign of ["each", "batch"] as const) {
    const { rate, cpuMicroseconds, share, shareOfRate } = verified[sign];
    say(
      `verification of an export, ${sign}`,
      perSecond(rate),
      `${Math.round(share * 100)} % of bare signature checks on all cores by processor time (${Math.round(shareOfRate * 100)} % by the clock), ${cpuMicroseconds.toFixed(1)} µs of it an entry`,
    );
    figures[`verify.${sign}`] = rate;
    figures[`verify.${sign}.shareByProcessorTime`] = share;
  }

  const indexing = await measureIndexing(directory, entries, draftOf, rounds);
  say(
    "index of streams, made again",
    `${indexing.toFixed(1)} µs`,
    `of processor an entry, ${Math.round(1_000_000 / indexing).toLocaleString("en")}/s on one core`,
  );
  figures["index.cpuMicroseconds"] = indexing;

  const samples: string[] = [];
  const sampleStore = await openSqliteStore({ directory: join(directory, "each"), readOnly: true });
  while (samples.length < 20_000) {
    const part = await sampleStore.readEntries(0, 4_000);
    samples.push(...part.map((bytes) => Buffer.from(bytes).toString()));
  }
  await sampleStore.close();
  const sqliteRows = await rawSqliteRows(directory, samples);
  say("plain SQLite table, batches of 1,000", perSecond(sqliteRows), "same rows, unsigned");
  const postgresRows = await rawPostgresRows(postgres.url, samples);
  say("plain PostgreSQL table, unnest of 1,000", perSecond(postgresRows), "same rows, unsigned");
  figures["rawSqlite"] = sqliteRows;
  figures["rawPostgres"] = postgresRows;

  for (const sign of ["each", "batch"] as const) {
    const store = await openPostgresStore({ url: postgres.url, log: sign });
    const log = await openOver(store, sign);
    await appendMany(log, 2_000);
    const { rate } = await appendMany(log, Math.max(1_000, Math.floor(entries / 5)));
    say(
      `PostgreSQL, ${sign}, strict, indexed`,
      perSecond(rate),
      `${Math.round((rate / postgresRows) * 100)} % of the plain table`,
    );
    figures[`postgres.${sign}`] = rate;
    await log.close();
  }

  const store = await openSqliteStore({ directory: join(directory, "growth") });
  const log = await openOver(store, "batch");
  const memory: number[] = [];
  const cost: number[] = [];
  for (let tenth = 1; tenth <= 10; tenth += 1) {
    const { cpuMicroseconds } = await appendMany(log, Math.floor(grown / 10));
    await store.count({ filter: { session_id: "sess_1" } });
    globalThis.gc?.();
    memory.push(Math.round(process.memoryUsage().rss / 1e6));
    cost.push(Math.round(cpuMicroseconds * 10) / 10);
  }
  const { size } = await store.head();
  say(
    `memory while growing to ${size.toLocaleString("en")}`,
    `${memory.at(-1)} MB`,
    `by tenths: ${memory.join(" ")} MB`,
  );
  say("processor time an append, by tenths", `${cost.at(-1)} µs`, cost.join(" "));
  figures["memoryByTenths"] = memory;
  figures["cpuByTenths"] = cost;

  await log.checkpoint();
  const latencies: number[] = [];
  for (let index = 0; index < 200; index += 1) {
    const seq = Math.floor(Math.random() * size);
    const start = performance.now();
    await log.proof(seq);
    latencies.push(performance.now() - start);
  }
  figures["grown"] = size;
  const sorted = latencies.toSorted((left, right) => left - right);
  say(
    `proof of one among ${size.toLocaleString("en")}`,
    `${median(latencies).toFixed(2)} ms`,
    `slowest of 200: ${sorted.at(-1)?.toFixed(2)} ms`,
  );
  figures["proofMedian"] = median(latencies);
  figures["proofWorst"] = sorted.at(-1) ?? 0;

  const asked = performance.now();
  await store.count({
    filter: { classification: "submit", target_type: "modal", since: Date.now() - 3_600_000 },
  });
  say(
    "submit events on a modal in the last hour",
    `${(performance.now() - asked).toFixed(1)} ms`,
    "all of them match",
  );
  const paged = performance.now();
  await store.query({ session_id: "sess_7" }, { limit: 100 });
  say("a page of 100 of one session", `${(performance.now() - paged).toFixed(1)} ms`);
  await log.close();
  const opening = performance.now();
  await (await openSqliteStore({ directory: join(directory, "growth") })).close();
  say("opening that log again", `${Math.round(performance.now() - opening)} ms`);
} finally {
  await meter.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}

const results = new URL("../results/", import.meta.url);
await mkdir(results, { recursive: true });
const table = rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
const load = `Load average ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores when it ended: other work ran beside it wherever that is above the number of cores, and figures by processor time are then the fairer ones.`;
const heading = `# Receipts\n\n\`npm run bench -- receipts\`, ${entries.toLocaleString("en")} entries, ${STREAMS.toLocaleString("en")} appends under way, ${TOGETHER} in a call unless said otherwise, Node ${process.version}. ${load}\n\n| what | figure | remark |\n|---|---|---|\n`;
await writeFile(new URL("receipts.md", results), `${heading}${table}\n`);
await writeFile(new URL("receipts.json", results), `${JSON.stringify(figures, null, 2)}\n`);
