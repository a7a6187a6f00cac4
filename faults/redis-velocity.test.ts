import {
  sseFrame,
  startFakeAgent,
  startPostgres,
  startRedis,
  startSentinel,
} from "@countersign/testkit";
import type { AuditedEntry, FakePiece, RunningRedis } from "@countersign/testkit";
import { expect, test } from "vitest";
import { gone, idsOf } from "./harness/agent.js";
import { openRun } from "./harness/client.js";
import type { ClientRun } from "./harness/client.js";
import { startFleet } from "./harness/fleet.js";
import { OPEN_POLICY, startIn, writeSettings } from "./harness/gateway.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { pause, report, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";
import { decidedAt, mostWithin } from "./harness/windows.js";

const scene = createScene();
const GATEWAYS = 4;
const CAP = 30;
const WINDOW_SECONDS = 3;
const ROUNDS = scaled(1, 5);
const POLICY = `${OPEN_POLICY}  velocity:
    - { id: notes, match: { event_type: custom }, max_invocations: ${CAP}, window_seconds: ${WINDOW_SECONDS} }
`;

/** One session that sends much more than its cap through four processes. */
async function startHammered(cluster: object) {
  const store = await startPostgres({ settings: { fsync: "on" } });
  scene.defer(() => store.stop());
  const agent = await startFakeAgent((request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request);
      const left = gone(request);
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      for (let count = 0; !request.signal.aborted; count += 1) {
        yield sseFrame({ type: "CUSTOM", name: "note", value: `${ids.runId} ${count}` });
        await Promise.race([pause(40), left]);
      }
    })(),
  }));
  scene.defer(() => agent.stop());
  const directories: string[] = [];
  for (let number = 0; number < GATEWAYS; number += 1) directories.push(await scene.directory());
  const config = { receipts: { store: store.url }, cluster };
  for (const directory of directories) {
    writeSettings(directory, { agent: agent.url, config, policy: POLICY });
  }
  const gateways = await startFleet(scene, directories);
  const runs: ClientRun[] = [];
  const notes = (): number =>
    runs.reduce(
      (sum, { events }) => sum + events.filter(({ type }) => type === "CUSTOM").length,
      0,
    );
  const hammer = ({ url }: GatewayProcess): void => {
    runs.push(openRun(url, { path: "/agents/support?session=s1" }));
  };
  gateways.forEach(hammer);
  return {
    gateways,
    notes,
    restart: async (place: number) => {
      await (gateways[place] as GatewayProcess).kill();
      const again = await startIn(scene, directories[place] as string);
      gateways[place] = again;
      hammer(again);
    },
    /** Waits until more events come than fit into one window. */
    goesOn: async (what: string, more = CAP + CAP / 2) => {
      const before = notes();
      await until(what, () => notes() > before + more, 60_000);
    },
    /** The events that were decided about, and the most of one window, from the log alone. */
    end: async (): Promise<{ allowed: AuditedEntry[]; most: number }> => {
      for (const run of runs) run.abort();
      for (const gateway of gateways) await gateway.stop();
      const log = await checkLog(directories[0] as string);
      expect(unreceipted(log, runs)).toEqual([]);
      const allowed = log.entries.filter(
        ({ receipt }) => receipt.allowed && JSON.stringify(receipt["event_type"]).includes("note"),
      );
      // An id is given when what was read together has been judged, a moment behind the decision.
      return { allowed, most: mostWithin(allowed.map(decidedAt), WINDOW_SECONDS * 1000 - 250) };
    },
  };
}

test(`one session that is hammered through ${GATEWAYS} processes has one window in Redis, also while gateways and Redis are killed and Redis comes back empty`, async () => {
  const redis = await startRedis();
  scene.defer(() => redis.stop());
  const hammered = await startHammered({ redis: redis.url });
  for (let round = 0; round < ROUNDS; round += 1) {
    await hammered.goesOn("the next window is under way");
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
  report(`${allowed.length} events allowed, at most ${most} in ${WINDOW_SECONDS} s (cap ${CAP})`);
  expect(most).toBeLessThanOrEqual(CAP);
  expect(allowed.length).toBeGreaterThan(2 * CAP);
}, 600_000);

test("a failover by Sentinel keeps the window, and events come again by themselves", async () => {
  let primary: RunningRedis = await startRedis();
  scene.defer(() => primary.stop());
  const replica = await startRedis({ replicaOf: primary });
  scene.defer(() => replica.stop());
  const sentinel = await startSentinel(primary);
  scene.defer(() => sentinel.stop());
  const hammered = await startHammered({
    redis: `redis://127.0.0.1:${sentinel.port}`,
    kind: "sentinel",
    sentinel: { name: "primary" },
    when_down: "refuse",
  });
  await hammered.goesOn("the next window is under way");
  await primary.crash();
  const since = performance.now();
  await until("the replica is the primary", async () =>
    (await replica.cli("ROLE")).startsWith("master"),
  );
  await hammered.goesOn("events come again after the failover", CAP / 2);
  report(`closed for ${((performance.now() - since) / 1000).toFixed(1)} s by a failover`);
  const { allowed, most } = await hammered.end();
  expect(most).toBeLessThanOrEqual(CAP);
  expect(allowed.length).toBeGreaterThan(CAP);
}, 300_000);
