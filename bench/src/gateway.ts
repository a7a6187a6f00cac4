/**
 * What a gateway costs: the same agent read directly, through a pipe that looks at nothing, and through
 * Countersign with receipts in memory and in a strict log. Events per second show the work per event;
 * latency is measured on a stream of one event every few milliseconds, as a model writes.
 *
 * Agent, gateway and reader share one process and its one event loop, so every variant pays for both
 * ends; what counts are the ratios of one run.
 */
import { createSigner, generateKey } from "@countersign/core/sign";
import { createGateway } from "@countersign/gateway";
import type { Recorder, UpstreamTarget } from "@countersign/gateway";
import { compilePolicy, createPolicyHolder, loadPolicy } from "@countersign/policy";
import { openLog } from "@countersign/receipts/log";
import type { SignMode } from "@countersign/receipts/sign";
import { createSigningPool } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const EVENTS = 5_000;
const ROUNDS = 6;
const PACED_EVENTS = 300;
const PACE_MS = 4;

const POLICY = `hushspec: "0.1.0"
name: bench
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
    max_events_per_second: 1000000
  ag_ui_inbound: { default: allow }
`;

type Variant = { readonly name: string; readonly url: string };
type Figures = { readonly speeds: number[]; readonly latencies: number[] };

const closers: (() => void | Promise<unknown>)[] = [];

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

/** Thread `flood` gets everything at once, thread `paced` one event every few milliseconds. */
async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const part of asked) body += String(part);
  const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(frame({ type: "RUN_STARTED", threadId, runId }));
  response.write(frame({ type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" }));
  const isPaced = threadId.startsWith("paced");
  for (let index = 0; index < (isPaced ? PACED_EVENTS : EVENTS); index++) {
    const delta = isPaced ? `@${performance.now()}@` : ` word${index}`;
    const isRoomy = response.write(frame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta }));
    if (isPaced) await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    else if (!isRoomy) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.write(frame({ type: "TEXT_MESSAGE_END", messageId: "m" }));
  response.end(frame({ type: "RUN_FINISHED", threadId, runId }));
}

// Below the 5 s after which a Node server hangs up, or a request is lost now and then.
const pool = new Agent({ keepAlive: true, timeout: 4_000 });

function pipeTo(url: string): (asked: IncomingMessage, response: ServerResponse) => void {
  return (asked, response) => {
    const { method, headers } = asked;
    const upward = request(url, { method: method ?? "POST", headers, agent: pool }, (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(response);
    });
    asked.pipe(upward);
  };
}

async function startGateway(agentUrl: string, recorder: Recorder): Promise<string> {
  const target: UpstreamTarget = {
    name: "agent",
    url: new URL(agentUrl),
    transport: "post-sse",
    headers: {},
    frames: "json",
    dialect: "auto",
    answerTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
  };
  const gateway = createGateway({
    agents: [target],
    policy: createPolicyHolder(compilePolicy(loadPolicy(POLICY))),
    recorder,
  });
  closers.push(() => gateway.close());
  const server = gateway.dataPlane;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/agents/agent`;
}

function createMemoryRecorder(): Recorder {
  let seq = 0;
  return { append: (draft) => Promise.resolve({ seq: seq++, id: draft.receipt.event_id }) };
}

async function openStrictLog(sign: SignMode): Promise<Recorder> {
  const directory = mkdtempSync(join(tmpdir(), "countersign-bench-"));
  const log = await openLog({
    store: await openSqliteStore({ directory }),
    signer: await createSigningPool(generateKey()),
    checkpointSigner: createSigner(generateKey()),
    origin: "bench/log",
    durability: "strict",
    sign,
  });
  closers.push(async () => {
    await log.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return log;
}

let runs = 0;

/** Reads one run to its end and hands over each piece of text as it arrives. */
function read(url: string, kind: string, onText: (text: string) => void): Promise<void> {
  const input = { threadId: `${kind}-${runs}`, runId: `run-${runs++}`, protocolVersion: "1.0" };
  const body = JSON.stringify({ ...input, messages: [] });
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: "POST", agent: pool, headers }, (answered) => {
      let tail = "";
      answered.setEncoding("utf8");
      answered.on("data", (text: string) => {
        tail = (tail + text).slice(-300);
        onText(text);
      });
      answered.on("end", () =>
        tail.includes("RUN_FINISHED") ? resolve() : reject(new Error(`no end: ${tail}`)),
      );
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

async function measure(variant: Variant, figures: Figures): Promise<void> {
  let bytes = 0;
  const start = performance.now();
  await read(variant.url, "flood", (text) => {
    bytes += text.length;
  });
  if (bytes < EVENTS * 50) throw new Error("the stream is short");
  figures.speeds.push((EVENTS * 1000) / (performance.now() - start));
}

async function measureLatency(variant: Variant, figures: Figures): Promise<void> {
  await read(variant.url, "paced", (text) => {
    const now = performance.now();
    for (const [, sent] of text.matchAll(/@([\d.]+)@/gu))
      figures.latencies.push(now - Number(sent));
  });
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function main(): Promise<void> {
  const direct = await listen(createServer((asked, response) => void answer(asked, response)));
  const variants: Variant[] = [
    { name: "direct", url: direct },
    { name: "bare pipe proxy", url: await listen(createServer(pipeTo(direct))) },
    {
      name: "Countersign, receipts in memory (unsigned)",
      url: await startGateway(direct, createMemoryRecorder()),
    },
    {
      name: "Countersign, strict log, a signature each",
      url: await startGateway(direct, await openStrictLog("each")),
    },
    {
      name: "Countersign, strict log, batch signatures",
      url: await startGateway(direct, await openStrictLog("batch")),
    },
  ];
  const figures = new Map(
    variants.map(({ name }) => [name, { speeds: [], latencies: [] } as Figures]),
  );
  const of = (name: string): Figures => figures.get(name) as Figures;
  for (const variant of variants) await measure(variant, { speeds: [], latencies: [] });
  for (let round = 0; round < ROUNDS; round++) {
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      await measure(variant, of(variant.name));
    }
  }
  for (const variant of variants) await measureLatency(variant, of(variant.name));

  const base = of("direct");
  const rows = variants.map(({ name }) => {
    const { speeds, latencies } = of(name);
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    return {
      name,
      eventsPerSecond: Math.round(percentile(speeds, 0.5)),
      ratio: percentile(
        speeds.map((speed, round) => speed / (base.speeds[round] ?? Number.NaN)),
        0.5,
      ),
      latencyMs: { p50, p99 },
      addedMs: {
        p50: p50 - percentile(base.latencies, 0.5),
        p99: p99 - percentile(base.latencies, 0.99),
      },
    };
  });
  publish(rows);
}

type Row = {
  name: string;
  eventsPerSecond: number;
  ratio: number;
  latencyMs: { p50: number; p99: number };
  addedMs: { p50: number; p99: number };
};

function publish(rows: readonly Row[]): void {
  const system = `Node ${process.version}, ${process.platform} ${process.arch}`;
  const lines = rows.map(
    ({ name, eventsPerSecond, ratio, latencyMs, addedMs }) =>
      `| ${name} | ${eventsPerSecond.toLocaleString("en")} | ${ratio.toFixed(2)}× | ${latencyMs.p50.toFixed(2)} | ${latencyMs.p99.toFixed(2)} | ${addedMs.p50.toFixed(2)} | ${addedMs.p99.toFixed(2)} |`,
  );
  const text = [
    "# What the gateway costs",
    "",
    `${system}; agent, gateway and reader in one process; ${ROUNDS} interleaved rounds of ${EVENTS.toLocaleString("en")} events, then ${PACED_EVENTS} events paced ${PACE_MS} ms apart.`,
    "",
    "| variant | events per second | against direct | p50 ms | p99 ms | added p50 ms | added p99 ms |",
    "|---|---:|---:|---:|---:|---:|---:|",
    ...lines,
    "",
  ].join("\n");
  const folder = new URL("../results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL("gateway.md", folder), text);
  writeFileSync(
    new URL("gateway.json", folder),
    `${JSON.stringify({ system, rows }, undefined, 2)}\n`,
  );
  process.stdout.write(`${text}\n`);
}

try {
  await main();
} finally {
  pool.destroy();
  for (const close of closers.toReversed()) await close();
}
