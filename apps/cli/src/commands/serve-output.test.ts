import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess, StdioOptions } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const BIN = new URL("../../bin/countersign.js", import.meta.url).pathname;
const isBuilt = existsSync(new URL("../../dist/main.js", import.meta.url));

let home = "";
let agent: Awaited<ReturnType<typeof startFakeAgent>>;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "countersign-cli-output-"));
  agent = await startFakeAgent(({ body }) => {
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
    return {
      pieces: ["RUN_STARTED", "RUN_FINISHED"].map((type) => sseFrame({ type, threadId, runId })),
    };
  });
});
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await agent.stop();
  await rm(home, { recursive: true, force: true });
});

/** A port that was free a moment ago: a gateway whose output is lost cannot say which one it took. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start(name: string, stdio: StdioOptions) {
  const [data, control] = [await freePort(), await freePort()];
  const file = join(home, `${name}.yaml`);
  await writeFile(
    file,
    `agents: { a: { url: "${agent.url}" } }\nlisten: { port: ${data} }\ncontrol: { port: ${control} }\n` +
      `metrics: { public: true }\nkeys: { directory: ${name}/keys }\nreceipts: { store: "sqlite:${name}/receipts" }\n`,
  );
  const child: ChildProcess = spawn(process.execPath, [BIN, "serve", "--config", file], { stdio });
  children.push(child);
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${data}${path}`);
  await expect
    .poll(
      () =>
        ask("/healthz").then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 20_000 },
    )
    .toBe(200);
  return {
    child,
    exit,
    run: async (runId: string) => {
      const response = await fetch(`http://127.0.0.1:${data}/agents/a`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ threadId: runId, runId, messages: [] }),
      });
      return (await response.text()).includes("RUN_FINISHED");
    },
    dropped: async () => {
      const page = await (await fetch(`http://127.0.0.1:${control}/metrics`)).text();
      return Number(/^countersign_log_lines_dropped_total (\d+)/mu.exec(page)?.[1]);
    },
  };
}

test.runIf(isBuilt && existsSync("/dev/full"))(
  "a log whose disk is full costs lines, not the gateway: runs go on and a stop ends with 0",
  async () => {
    const full = openSync("/dev/full", "w");
    const { child, exit, run, dropped } = await start("full", ["ignore", full, full]);
    closeSync(full);
    expect([await run("1"), await run("2")]).toEqual([true, true]);
    await expect.poll(dropped).toBeGreaterThanOrEqual(3);
    child.kill("SIGTERM");
    expect(await exit).toBe(0);
  },
);

test.runIf(isBuilt)("a reader of the log that dies does not take the gateway along", async () => {
  const { child, exit, run, dropped } = await start("gone", ["ignore", "pipe", "ignore"]);
  child.stdout?.destroy();
  expect([await run("1"), await run("2"), await run("3")]).toEqual([true, true, true]);
  await expect.poll(dropped).toBeGreaterThan(0);
  child.kill("SIGTERM");
  expect(await exit).toBe(0);
});

test.runIf(isBuilt)(
  "a reader that is there but does not read delays a stop by seconds only, exit code 0",
  async () => {
    const fifo = join(home, "stalled.fifo");
    spawnSync("mkfifo", [fifo]);
    // Both ends are open: the pipe has no reader and never closes.
    const end = openSync(fifo, "r+");
    const { child, exit, run } = await start("stalled", ["ignore", end, "ignore"]);
    // More than the 64 KiB that a pipe takes.
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 20 }, (_, one) => run(`${round}-${one}`)));
    }
    child.kill("SIGTERM");
    expect(await exit).toBe(0);
    closeSync(end);
  },
  30_000,
);

test.runIf(isBuilt)("a log in a file has every line, in order, to the last", async () => {
  const log = join(home, "whole.log");
  const file = openSync(log, "a");
  const { child, exit, run } = await start("whole", ["ignore", file, "ignore"]);
  closeSync(file);
  for (const id of ["1", "2", "3"]) expect(await run(id)).toBe(true);
  child.kill("SIGTERM");
  expect(await exit).toBe(0);
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  const parsed = lines.map((line) => JSON.parse(line) as { msg: string; node?: string });
  const messages = parsed.map(({ msg }) => msg.split(" ")[0]);
  expect(messages).toEqual(["listening", "run", "run", "run", "stopping", "stopped"]);
  expect(parsed[0]?.node).toBe(process.versions.node);
});
