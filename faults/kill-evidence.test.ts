import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { startFakeAgent, sseFrame } from "@countersign/testkit";
import { expect, test } from "vitest";
import { chatter, idsOf, inRun, message } from "./harness/agent.js";
import { finishRun, openRun } from "./harness/client.js";
import { tryCountersign } from "./harness/command.js";
import { startIn, writeSettings } from "./harness/gateway.js";
import { auditLog } from "./harness/log.js";
import { pause, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const ROUNDS = scaled(1, 6);
const STREAMS = 12;
const LOOKED_AT = scaled(5, 12);

test(
  `kill -9 while payloads are kept, ${ROUNDS} times: what is kept has the hash of the log, and the next run is kept`,
  async () => {
    const agent = await startFakeAgent((request) =>
      request.body.includes('"after-')
        ? { pieces: inRun(idsOf(request), message("m", "still here")).map(sseFrame) }
        : chatter(request),
    );
    scene.defer(() => agent.stop());
    const directory = await scene.directory();
    writeSettings(directory, {
      agent: agent.url,
      config: { evidence: { keep: "1h", events: "all" } },
    });
    let kept = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const gateway = await startIn(scene, directory);
      const runs = Array.from({ length: STREAMS }, () => openRun(gateway.url));
      const count = (): number => runs.reduce((sum, { events }) => sum + events.length, 0);
      await until("events flow", () => count() > 300);
      await pause((round * 37) % 90);
      await gateway.kill();
      await Promise.all(runs.map(({ ended }) => ended));
      const again = await startIn(scene, directory);
      await finishRun(again.url, { threadId: `after-${round}` });
      expect(await again.stop()).toBe(0);

      const { entries } = await auditLog(directory);
      // The last ones are of the run after the kill; the others lie anywhere.
      const step = Math.max(1, Math.floor(entries.length / LOOKED_AT));
      const looked = entries.filter(
        (_, index) => index % step === 0 || index >= entries.length - 3,
      );
      for (const { seq, receipt } of looked) {
        const read = await tryCountersign(
          directory,
          "receipts",
          "show",
          String(seq),
          "--payload",
          "--json",
        );
        const hash = createHash("sha256").update(read.out.replace(/\n$/u, "")).digest("hex");
        const isKept = read.code === 0 && hash === receipt.payload_hash;
        // A copy that was still queued is lost as a whole; one of the run after the kill is not.
        const isLost = read.out.includes("ERR_CLI_NO_PAYLOAD") && seq < entries.length - 3;
        expect([seq, isKept || isLost]).toEqual([seq, true]);
        kept += Number(isKept);
      }
    }
    expect(kept).toBeGreaterThan(ROUNDS * 3);
    const folder = join(directory, "receipts", "evidence");
    for (const name of await readdir(folder)) {
      expect((await readFile(join(folder, name))).includes("still here")).toBe(false);
    }
  },
  60_000 + ROUNDS * 60_000,
);
