import { startFakeAgent } from "@countersign/testkit";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chatter } from "./harness/agent.js";
import { openRun } from "./harness/client.js";
import type { ClientRun } from "./harness/client.js";
import { startIn, writeSettings } from "./harness/gateway.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { report, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const LIBRARY = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
].find((path) => existsSync(path));

/** Seconds by which the wall clock is moved, one after the other: a day ahead, back beyond the start, right again. */
const JUMPS = [86_400, -7200, 0];

type Jumping = { gateway: GatewayProcess; jump(seconds: number): Promise<void> };

/** The operating system's clock as the process sees it, through libfaketime; timers are left alone. */
async function withLibrary(directory: string): Promise<Jumping> {
  const file = join(directory, "offset");
  const jump = async (seconds: number): Promise<void> =>
    writeFileSync(file, `${seconds < 0 ? "" : "+"}${seconds}\n`);
  await jump(0);
  const gateway = await startIn(scene, directory, {
    environment: {
      LD_PRELOAD: LIBRARY ?? "",
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
  });
  return { gateway, jump };
}

/** Where the library is not installed: the language's clock, replaced from outside in the running process. */
async function withDebugger(directory: string): Promise<Jumping> {
  const gateway = await startIn(scene, directory);
  await gateway.inspector.evaluate(
    "globalThis.clockOffset = 0, globalThis.realNow = Date.now, Date.now = () => realNow() + clockOffset, 0",
  );
  return {
    gateway,
    jump: async (seconds) => {
      await gateway.inspector.evaluate(`globalThis.clockOffset = ${seconds * 1000}`);
    },
  };
}

test("the clock jumps a day ahead and hours back: streams go on, nothing is blocked or timed out, and the log stays one sequence", async () => {
  const agent = await startFakeAgent((request) => chatter(request, 10));
  scene.defer(() => agent.stop());
  const directory = await scene.directory();
  // The usual bound on events per second: a clock that goes back must not exhaust it.
  writeSettings(directory, {
    agent: { url: agent.url, idle_timeout: 30 },
    policy: `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, max_events_per_second: 1000 }
  ag_ui_inbound: { default: allow }
`,
  });
  const open = LIBRARY === undefined ? withDebugger : withLibrary;
  const { gateway, jump } = await open(directory);
  report(
    `clock jumps by ${LIBRARY === undefined ? "a clock replaced through the debugger" : "libfaketime"}`,
  );
  const runs: ClientRun[] = [];
  for (const seconds of JUMPS) {
    runs.push(openRun(gateway.url), openRun(gateway.url));
    const enough = (count: number) => (): boolean => {
      const due = runs.map(({ events }) => events.length >= count);
      return due.every(Boolean);
    };
    await until("every run streams", enough(20));
    await jump(seconds);
    const reached = Math.max(...runs.map(({ events }) => events.length));
    await until("every run goes on after the jump", () =>
      runs.every(
        (run, index) => run.events.length >= 20 && (index > 1 || run.events.length > reached),
      ),
    );
  }
  for (const run of runs) {
    const words = run.events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
    // Nothing in the middle was blocked or lost.
    expect(words.map(({ delta }) => delta)).toEqual(words.map((_, index) => `word ${index} `));
    expect(run.events.some(({ type }) => type === "RUN_ERROR")).toBe(false);
    run.abort();
  }
  await Promise.all(runs.map(({ ended }) => ended));
  expect(await gateway.stop()).toBe(0);

  const log = await checkLog(directory);
  expect(unreceipted(log, runs)).toEqual([]);
  const ids = log.entries.map(({ receipt }) => receipt["event_id"]);
  expect(new Set(ids).size).toBe(ids.length);
  // The jumps are on record: times go a day ahead and back again, while numbers only go up.
  const times = log.entries.map(({ received_at: at }) => at);
  expect(Math.max(...times) - (times.at(-1) as number)).toBeGreaterThan(80_000_000);
}, 120_000);
