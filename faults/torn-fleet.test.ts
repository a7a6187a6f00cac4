import { startTornLine } from "@countersign/testkit";
import { expect, test } from "vitest";
import { createFollowers, expectWhole } from "./harness/follow.js";
import { startSharing } from "./harness/fleet.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { pause, report, scaled } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const GATEWAYS = 3;
const CLIENTS = scaled(18, 90);
const WORDS = scaled(200, 800);
const BREAKS = scaled(8, 35);

const portOf = ({ url }: GatewayProcess): number => Number(new URL(url).port);

/** The results of the streams of other gateways that clients asked a gateway for. */
async function resumesOf({ controlUrl }: GatewayProcess): Promise<Record<string, number>> {
  const page = await (await fetch(`${controlUrl}/metrics`)).text();
  const lines = page.matchAll(/^countersign_remote_resumes_total\{result="(\w+)"\} (\d+)$/gmu);
  return Object.fromEntries([...lines].map(([, result, count]) => [result, Number(count)]));
}

test(`${CLIENTS} people before ${GATEWAYS} gateways and a load balancer without stickiness, their lines torn and frozen ${BREAKS} times, one gateway told to stop meanwhile: each has every event once and in order, each is signed for once, and no agent is asked twice`, async () => {
  const followers = await createFollowers(scene, WORDS);
  const gateways = await startSharing(scene, followers.agent.url, GATEWAYS);
  const [leaving, ...staying] = gateways as [GatewayProcess, ...GatewayProcess[]];
  const line = await startTornLine(...gateways.map(portOf));
  scene.defer(() => line.stop());
  const all = await followers.begin(line.url, CLIENTS);
  let stopped: Promise<number | null> | undefined;
  for (let round = 0; round < BREAKS; round += 1) {
    await pause(150 + (round % 3) * 50);
    if (round === Math.floor(BREAKS / 3)) {
      stopped = leaving.stop();
      line.takeOut(portOf(leaving));
    }
    if (round % 3 === 2) line.freeze();
    else line.tear();
  }
  const runs = await all();
  for (const { events } of runs) expectWhole(events, WORDS);
  expect(followers.agent.requests).toHaveLength(CLIENTS);
  // It ends by itself, once everybody has heard the end.
  expect(await stopped).toBe(0);
  const resumes = await Promise.all(staying.map(resumesOf));
  report(
    `${line.connections()} connections for ${CLIENTS} runs; resumed ${JSON.stringify(resumes)}`,
  );
  for (const { taken = 0 } of resumes) expect(taken).toBeGreaterThan(CLIENTS / GATEWAYS);
  await line.stop();
  for (const gateway of staying) expect(await gateway.stop()).toBe(0);
  const log = await checkLog(leaving.directory);
  expect(unreceipted(log, runs)).toEqual([]);
  const outbound = log.entries.filter(({ direction }) => direction === "outbound");
  expect(outbound).toHaveLength(CLIENTS * (WORDS + 4));
}, 240_000);
