import { sseFrame, startFakeAgent, startPostgres } from "@countersign/testkit";
import type { FakePiece } from "@countersign/testkit";
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
const GATEWAYS = 3;
const STREAMS = 2;
const CAP = 30;
const WINDOW_SECONDS = 3;
const ROUNDS = scaled(1, 6);
const POLICY = `${OPEN_POLICY}  velocity:
    - { id: notes, match: { event_type: custom }, max_invocations: ${CAP}, window_seconds: ${WINDOW_SECONDS} }
`;

test(`one session that is hammered through ${GATEWAYS} processes has one window, also while one of them is killed and starts again and the database falls silent for a moment`, async () => {
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
  const config = { receipts: { store: store.url } };
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
    for (let stream = 0; stream < STREAMS; stream += 1) {
      runs.push(openRun(url, { path: "/agents/support?session=s1" }));
    }
  };
  gateways.forEach(hammer);
  for (let round = 0; round < ROUNDS; round += 1) {
    const place = round % GATEWAYS;
    const before = notes();
    // A window has passed, or more came than fit into one.
    await until("the next window is under way", () => notes() > before + CAP + CAP / 2, 60_000);
    await (gateways[place] as GatewayProcess).kill();
    const again = await startIn(scene, directories[place] as string);
    gateways[place] = again;
    hammer(again);
    const restarted = notes();
    await until("events come again", () => notes() > restarted + CAP, 60_000);
    await store.freeze();
    await pause(700);
    await store.thaw();
    const thawed = notes();
    await until("events come as before", () => notes() > thawed + CAP / 2, 60_000);
    if (round % 2 === 0) continue;
    // One that froze with room at hand has none when it wakes up: others have used it by then.
    const frozen = gateways[(place + 1) % GATEWAYS] as GatewayProcess;
    frozen.child.kill("SIGSTOP");
    await pause(8000);
    frozen.child.kill("SIGCONT");
    const woken = notes();
    await until("events come as ever", () => notes() > woken + CAP / 2, 60_000);
  }
  for (const run of runs) run.abort();
  for (const gateway of gateways) await gateway.stop();

  const log = await checkLog(directories[1] as string);
  expect(unreceipted(log, runs)).toEqual([]);
  const decided = log.entries.filter(({ receipt }) =>
    JSON.stringify(receipt["event_type"]).includes("note"),
  );
  const allowed = decided.filter(({ receipt }) => receipt.allowed);
  // An id is given when what was read together has been judged, a moment behind the decision.
  const most = mostWithin(allowed.map(decidedAt), WINDOW_SECONDS * 1000 - 250);
  report(
    `of ${decided.length} events ${allowed.length} were allowed, at most ${most} in ${WINDOW_SECONDS} s (cap ${CAP})`,
  );
  expect(most).toBeLessThanOrEqual(CAP);
  expect(allowed.length).toBeGreaterThan(2 * CAP);
}, 600_000);
