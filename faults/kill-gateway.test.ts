import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { expect, test } from "vitest";
import { chatter, idsOf, inRun, message } from "./harness/agent.js";
import { finishRun, openRun } from "./harness/client.js";
import type { ClientRun } from "./harness/client.js";
import { startIn, writeSettings } from "./harness/gateway.js";
import { auditLog, checkLog, unreceipted } from "./harness/log.js";
import { pause, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const ROUNDS = scaled(2, 12);
const STREAMS = 12;

test(
  `kill -9 under load, ${ROUNDS} times: whatever anybody received has a durable receipt, and the log goes on`,
  async () => {
    const agent = await startFakeAgent((request) =>
      request.body.includes('"after-')
        ? { pieces: inRun(idsOf(request), message("m", "still here")).map(sseFrame) }
        : chatter(request),
    );
    scene.defer(() => agent.stop());
    const directory = await scene.directory();
    writeSettings(directory, { agent: agent.url });
    const received: ClientRun[] = [];
    let known = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const gateway = await startIn(scene, directory);
      const runs = Array.from({ length: STREAMS }, () => openRun(gateway.url));
      received.push(...runs);
      const count = (): number => runs.reduce((sum, { events }) => sum + events.length, 0);
      await until("events flow", () => count() > 300 + 200 * (round % 4));
      // Another moment of the log's life each time.
      await pause((round * 37) % 90);
      await gateway.kill();
      await Promise.all(runs.map(({ ended }) => ended));

      const again = await startIn(scene, directory);
      const after = await finishRun(again.url, { threadId: `after-${round}` });
      expect(after.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
      received.push(after);
      expect(await again.stop()).toBe(0);

      const log = await (round === ROUNDS - 1 ? checkLog(directory) : auditLog(directory));
      expect(unreceipted(log, received)).toEqual([]);
      // Nothing that was there before is gone, and there is more.
      expect(log.entries.length).toBeGreaterThan(known + count() - STREAMS);
      known = log.entries.length;
    }
    const total = received.reduce((sum, { events }) => sum + events.length, 0);
    expect(total).toBeGreaterThan(ROUNDS * 300);
  },
  ROUNDS * 60_000,
);
