import { startRedis, startSentinel } from "@countersign/testkit";
import { expect, test } from "vitest";
import { hammerSession } from "./harness/hammered-session.js";
import { pause, report, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const GATEWAYS = 4;
const CAP = 30;
const WINDOW_SECONDS = 3;
const ROUNDS = scaled(1, 5);
const LOAD = { gateways: GATEWAYS, streams: 1, cap: CAP, windowSeconds: WINDOW_SECONDS };

test(`one session that is hammered through ${GATEWAYS} processes has one window in Redis, also while gateways and Redis are killed and Redis comes back empty`, async () => {
  const redis = await startRedis();
  scene.defer(() => redis.stop());
  const hammered = await hammerSession(scene, { ...LOAD, cluster: { redis: redis.url } });
  for (let round = 0; round < ROUNDS; round += 1) {
    await hammered.goesOn("the next window is under way", CAP + CAP / 2);
    await hammered.restart(round % GATEWAYS);
    await hammered.goesOn("events come again after a kill", CAP);
    redis.freeze();
    await pause(700);
    redis.thaw();
    await hammered.goesOn("events come again after a silence", CAP / 2);
    await redis.crash();
    await pause(300);
    await redis.start();
    const since = performance.now();
    await hammered.goesOn("events come again after Redis lost everything", CAP / 2);
    report(`closed for ${((performance.now() - since) / 1000).toFixed(1)} s after a loss`);
  }
  const { allowed, most } = await hammered.end();
  report(`${allowed} events allowed, at most ${most} in ${WINDOW_SECONDS} s (cap ${CAP})`);
  expect(most).toBeLessThanOrEqual(CAP);
  expect(allowed).toBeGreaterThan(2 * CAP);
}, 600_000);

test("a failover by Sentinel keeps the window, and events come again by themselves", async () => {
  const primary = await startRedis();
  scene.defer(() => primary.stop());
  const replica = await startRedis({ replicaOf: primary });
  scene.defer(() => replica.stop());
  const sentinel = await startSentinel(primary);
  scene.defer(() => sentinel.stop());
  const hammered = await hammerSession(scene, {
    ...LOAD,
    cluster: {
      redis: `redis://127.0.0.1:${sentinel.port}`,
      kind: "sentinel",
      sentinel: { name: "primary" },
    },
  });
  await hammered.goesOn("the next window is under way", CAP + CAP / 2);
  await primary.crash();
  const since = performance.now();
  await until("the replica is the primary", async () =>
    (await replica.cli("ROLE")).startsWith("master"),
  );
  await hammered.goesOn("events come again after the failover", CAP / 2);
  report(`closed for ${((performance.now() - since) / 1000).toFixed(1)} s by a failover`);
  const { allowed, most } = await hammered.end();
  expect(most).toBeLessThanOrEqual(CAP);
  expect(allowed).toBeGreaterThan(CAP);
}, 300_000);
