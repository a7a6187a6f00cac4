import { startTornLine } from "@countersign/testkit";
import { expect, test } from "vitest";
import { createFollowers, expectWhole } from "./harness/follow.js";
import { startGateway } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { pause, report, scaled } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const CLIENTS = scaled(30, 120);
const WORDS = scaled(150, 600);
const BREAKS = scaled(6, 25);

test(`${CLIENTS} people whose lines tear and freeze, ${BREAKS} times: each has every event once and in order, each is signed for once, and no agent is asked twice`, async () => {
  const followers = await createFollowers(scene, WORDS);
  const { agent } = followers;
  const gateway = await startGateway(scene, {
    agent: agent.url,
    config: { receipts: { store: "sqlite:receipts", sign: "batch" } },
  });
  const line = await startTornLine(Number(new URL(gateway.url).port));
  scene.defer(() => line.stop());
  const all = await followers.begin(line.url, CLIENTS);
  for (let round = 0; round < BREAKS; round += 1) {
    await pause(150 + (round % 3) * 50);
    if (round % 3 === 2) line.freeze();
    else line.tear();
  }
  const runs = await all();
  for (const { events } of runs) expectWhole(events, WORDS);
  expect(agent.requests).toHaveLength(CLIENTS);
  expect(line.connections()).toBeGreaterThan(CLIENTS * 2);
  report(`${line.connections()} connections for ${CLIENTS} runs`);
  await line.stop();
  expect(await gateway.stop()).toBe(0);
  const log = await checkLog(gateway.directory);
  expect(unreceipted(log, runs)).toEqual([]);
  const outbound = log.entries.filter(({ direction }) => direction === "outbound");
  expect(outbound).toHaveLength(CLIENTS * (WORDS + 4));
}, 240_000);
