/**
 * Resumable streams with and without Redis: processor time of an event, and the time until a client has its first
 * event again at the gateway of its run, at another one, and after that gateway was killed.
 *
 * npm run bench -- streams [--rounds N]
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startPostgres, startRedis } from "@countersign/testkit";
import { median, percentile } from "./statistics.js";

const COMMAND = fileURLToPath(new URL("../../apps/cli/bin/countersign.js", import.meta.url));
const STREAMS = 16;
const WORDS = 2000;
const RESUMES = 60;
/** Clock ticks per second in /proc; Linux has 100 on every platform that Node runs on. */
const TICKS = 100;
const POLICY = `hushspec: "0.1.0"
name: bench
rules:
  ag_ui:
    allow_display_without_capability: true
    restricted_classifications: []
    max_events_per_second: 1000000
  ag_ui_inbound: { default: allow }
`;

const at = process.argv.indexOf("--rounds");
const rounds = at < 0 ? 6 : Number(process.argv[at + 1]);

/** An agent whose thread id says how fast it talks. */
const agent = createServer((asked, answer) => {
  let body = "";
  asked.on("data", (piece) => (body += String(piece)));
  asked.on("end", () => {
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
    const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.write(frame({ type: "RUN_STARTED", threadId, runId }));
    answer.write(frame({ type: "TEXT_MESSAGE_START", messageId: runId, role: "assistant" }));
    const word = { type: "TEXT_MESSAGE_CONTENT", messageId: runId, delta: "some words " };
    if (threadId.startsWith("slow")) {
      const timer = setInterval(() => answer.write(frame(word)), 5);
      answer.on("close", () => clearInterval(timer));
      return;
    }
    void (async () => {
      // Ten events every two milliseconds, as a fast model behind a network.
      for (let sent = 0; sent < WORDS; sent += 10) {
        answer.write(frame(word).repeat(10));
        await pause(2);
      }
      answer.write(frame({ type: "TEXT_MESSAGE_END", messageId: runId }));
      answer.end(frame({ type: "RUN_FINISHED", threadId, runId }));
    })();
  });
});

type Process = { readonly url: string; readonly child: ChildProcess };

async function startGateway(directory: string): Promise<Process> {
  const child = spawn(process.execPath, [COMMAND, "serve"], {
    cwd: directory,
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  return new Promise((resolve, reject) => {
    const hear = (piece: Buffer): void => {
      output += String(piece);
      const url = /listening (http\S+)/u.exec(output)?.[1];
      if (url !== undefined) resolve({ url, child });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", () => reject(new Error(output)));
  });
}

/** Microseconds that a process has spent. */
function processorTimeOf({ child }: Process): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / TICKS) * 1e6;
}

type Read = { readonly lastId: string; readonly firstAfter: number; readonly text: string };

let runs = 0;

/** Reads a stream until it has as many events, or to its end. */
function read(
  { url }: Process,
  { thread, until, lastId }: { thread: string; until?: number; lastId?: string },
): Promise<Read> {
  runs += 1;
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/agents/main?reconnect=1`, {
      method: "POST",
      agent: false,
      headers: lastId === undefined ? {} : { "last-event-id": lastId },
    });
    let text = "";
    let firstAfter = 0;
    const end = (): void => {
      const ids = [...text.matchAll(/^id: (\S+)\ndata/gmu)];
      resolve({ text, firstAfter, lastId: ids.at(-1)?.[1] ?? "" });
    };
    asked.on("error", (error) => (text === "" ? reject(error) : end()));
    asked.on("response", (answer) => {
      answer.on("error", () => undefined);
      answer.on("data", (piece: Buffer) => {
        text += String(piece);
        if (firstAfter === 0 && text.includes("data: ")) firstAfter = performance.now() - started;
        if (until !== undefined && text.split("data: ").length > until) asked.destroy();
      });
      answer.on("end", end);
      answer.on("close", end);
    });
    const threadId = `${thread}-${runs}`;
    asked.end(
      JSON.stringify({ threadId, runId: `r-${runs}`, protocolVersion: "1.0", messages: [] }),
    );
  });
}

const scratch = mkdtempSync(join(tmpdir(), "countersign-streams-"));
const [database, redis] = await Promise.all([startPostgres(), startRedis()]);
const gateways: Process[] = [];
try {
  await new Promise<void>((resolve) => void agent.listen(0, "127.0.0.1", resolve));
  const { port } = agent.address() as AddressInfo;
  const start = async (name: string, shares: boolean): Promise<Process> => {
    const directory = mkdtempSync(join(scratch, `${name}-`));
    const keys = join(scratch, "keys");
    if (gateways.length > 0) cpSync(keys, join(directory, "keys"), { recursive: true });
    const config = {
      listen: { port: 0 },
      control: { port: 0, console: false },
      agents: { main: { url: `http://127.0.0.1:${port}/` } },
      policy: "policy.yaml",
      receipts: { store: database.url, sign: "batch", scrub_rate: 0 },
      keys: { directory: "keys" },
      // Runs that the measurement leaves behind end soon.
      limits: { reconnect_grace: 1 },
      ...(shares ? { cluster: { redis: redis.url } } : {}),
    };
    writeFileSync(join(directory, "policy.yaml"), POLICY);
    writeFileSync(join(directory, "countersign.yaml"), JSON.stringify(config));
    const gateway = await startGateway(directory);
    if (gateways.length === 0) cpSync(join(directory, "keys"), keys, { recursive: true });
    gateways.push(gateway);
    return gateway;
  };
  const alone = await start("alone", false);
  const shared = await start("shared", true);
  const other = await start("other", true);

  const costOf = async (gateway: Process): Promise<number> => {
    const before = processorTimeOf(gateway);
    await Promise.all(Array.from({ length: STREAMS }, () => read(gateway, { thread: "fast" })));
    return (processorTimeOf(gateway) - before) / (STREAMS * (WORDS + 4));
  };
  console.log("three gateways listen");
  await costOf(alone);
  await costOf(shared);
  const costs: { alone: number; shared: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const isFirst = round % 2 === 0;
    const first = await costOf(isFirst ? alone : shared);
    const second = await costOf(isFirst ? shared : alone);
    costs.push(isFirst ? { alone: first, shared: second } : { alone: second, shared: first });
  }
  const without = median(costs.map((one) => one.alone));
  const ratios = costs.map((one) => one.shared / one.alone);
  console.log(`processor time of an event, ${STREAMS} streams, ${rounds} pairs of rounds:`);
  console.log(`  without Redis ${without.toFixed(1)} µs`);
  console.log(
    `  with Redis    ${median(costs.map((one) => one.shared)).toFixed(1)} µs, ratio ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
  );

  const times: Record<"own" | "other", number[]> = { own: [], other: [] };
  for (let count = 0; count < RESUMES; count += 1) {
    for (const where of ["own", "other"] as const) {
      const { lastId } = await read(shared, { thread: "slow", until: 5 });
      // The agent goes on, so that the first event waits at the gateway.
      await pause(20);
      const there = where === "own" ? shared : other;
      const { firstAfter } = await read(there, { thread: "slow", until: 2, lastId });
      times[where].push(firstAfter);
    }
  }
  console.log(`time from a resume request to the first event, ${RESUMES} of each:`);
  for (const [where, list] of Object.entries(times)) {
    console.log(
      `  at ${where === "own" ? "its own gateway  " : "the other gateway"} p50 ${median(list).toFixed(1)} ms, p99 ${percentile(list, 0.99).toFixed(1)} ms`,
    );
  }

  const { lastId } = await read(shared, { thread: "slow", until: 5 });
  await pause(200);
  shared.child.kill("SIGKILL");
  const killed = performance.now();
  const { firstAfter, text } = await read(other, { thread: "slow", lastId });
  if (!text.includes("GATEWAY_LOST")) throw new Error("the lost run did not end with its error");
  console.log(
    `after kill -9: first event after ${firstAfter.toFixed(1)} ms, GATEWAY_LOST after ${((performance.now() - killed) / 1000).toFixed(1)} s`,
  );
} finally {
  for (const { child } of gateways) {
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
  }
  agent.closeAllConnections();
  agent.close();
  await Promise.all([database.stop(), redis.stop()]);
  rmSync(scratch, { recursive: true, force: true });
}
