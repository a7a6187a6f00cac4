import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeAgent } from "@countersign/testkit";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chatter, idsOf, inRun, message } from "./harness/agent.js";
import { codeOf, finishRun, openRun, timeGet, untilReady } from "./harness/client.js";
import { startIn, writeSettings } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();

/** Mounts a very small disk; `false` where this process may not. */
function mountTiny(path: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", path], { stdio: "ignore" });
  } catch {
    return false;
  }
  scene.defer(() => execFileSync("umount", ["-l", path]));
  return true;
}

function fillUp(file: string): void {
  for (let size = 64 * 1024; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch {
      // Full, for pieces of this size.
    }
  }
}

async function startAgent(): Promise<FakeAgent> {
  const agent = await startFakeAgent((request) =>
    idsOf(request).threadId.startsWith("short")
      ? { pieces: inRun(idsOf(request), message("m", "hi")).map(sseFrame) }
      : chatter(request),
  );
  scene.defer(() => agent.stop());
  return agent;
}

test("a full disk: runs end in an error, requests are refused, nothing is delivered without a receipt, and room is enough to go on", async (context) => {
  const agent = await startAgent();
  const directory = await scene.directory();
  const disk = join(directory, "receipts");
  mkdirSync(disk);
  if (!mountTiny(disk)) {
    process.stderr.write(
      "disk full: this process may not mount a tmpfs; ulimit -f stands in for it below\n",
    );
    context.skip();
  }
  writeSettings(directory, { agent: agent.url });
  const gateway = await startIn(scene, directory);
  const before = await finishRun(gateway.url, { threadId: "short-0" });
  expect(before.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });

  // Somebody else fills the disk up but for a little, and the log takes the rest.
  const ballast = join(disk, "ballast");
  writeFileSync(ballast, Buffer.alloc(1024 * 1024));
  const runs = Array.from({ length: 4 }, () => openRun(gateway.url));
  await Promise.all(runs.map(({ ended }) => ended));
  for (const run of runs)
    expect(codeOf(run)).toMatch(/^RECEIPTS_UNAVAILABLE$|^ERR_(?:STORE|LOG)_/u);
  // What did not fit may have been a large group; now not a byte fits.
  fillUp(join(disk, "last-bytes"));
  await until("nothing fits any more", async () => {
    const run = await finishRun(gateway.url, { threadId: `short-full-${runs.length}` });
    runs.push(run);
    return run.status === 503;
  });
  expect((await timeGet(`${gateway.url}/ping`)).status).toBe(200);
  expect(gateway.hasExited()).toBe(false);

  rmSync(ballast);
  await untilReady(gateway.url);
  const after = await finishRun(gateway.url, { threadId: "short-2" });
  expect(after.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(await gateway.stop()).toBe(0);
  expect(unreceipted(await checkLog(directory), [before, ...runs, after])).toEqual([]);
}, 90_000);

test("files that may not grow (ulimit -f): nothing is delivered without a receipt, and the log holds after a restart without the limit", async () => {
  const agent = await startAgent();
  const directory = await scene.directory();
  writeSettings(directory, { agent: agent.url });
  // Blocks of 1024 bytes. SIGXFSZ is ignored by Node, so that writes fail with EFBIG.
  const gateway = await startIn(scene, directory, {
    launcher: ["bash", "-c", 'ulimit -f 1024; exec "$@"', "limited"],
  });
  const runs = Array.from({ length: 4 }, () => openRun(gateway.url));
  await Promise.all(runs.map(({ ended }) => ended));
  for (const run of runs) expect(codeOf(run)).toBe("RECEIPTS_UNAVAILABLE");
  // Where a large group did not fit, small ones may, until none does.
  await until("nothing fits any more", async () => {
    const run = await finishRun(gateway.url, { threadId: `short-${runs.length}` });
    runs.push(run);
    return run.status === 503;
  });
  expect(gateway.hasExited()).toBe(false);
  await gateway.kill();

  const again = await startIn(scene, directory);
  const after = await finishRun(again.url, { threadId: "short-after" });
  expect(after.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(await again.stop()).toBe(0);
  expect(unreceipted(await checkLog(directory), [...runs, after])).toEqual([]);
}, 90_000);
