import { startFakeAgent, startPostgres, startTornLine } from "@countersign/testkit";
import { expect, test } from "vitest";
import { chatter } from "./harness/agent.js";
import { codeOf, openRun } from "./harness/client.js";
import type { ClientRun } from "./harness/client.js";
import { createFollowers, expectWhole } from "./harness/follow.js";
import { startFleet } from "./harness/fleet.js";
import { writeSettings } from "./harness/gateway.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { pause, report, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const GATEWAYS = 3;
const CLIENTS = scaled(18, 90);
const WORDS = scaled(200, 800);
const BREAKS = scaled(8, 35);

/** Gateways of one log that pass streams on to each other. */
async function startRelaying(agent: string, gateways: number): Promise<GatewayProcess[]> {
  const store = await startPostgres({ settings: { fsync: "on" } });
  scene.defer(() => store.stop());
  const config = {
    receipts: { store: store.url, sign: "batch" },
    fleet: { address: "127.0.0.1", port: 0 },
    metrics: { public: true },
    shutdown: { drain_timeout: 120 },
    listen: { host: "127.0.0.1", port: 0, heartbeat: 0.5 },
  };
  const directories: string[] = [];
  for (let number = 0; number < gateways; number += 1) directories.push(await scene.directory());
  for (const directory of directories) writeSettings(directory, { agent, config });
  return startFleet(scene, directories);
}

const portOf = ({ url }: GatewayProcess): number => Number(new URL(url).port);

/** The results of the streams that a gateway asked others for. */
async function relaysOf({ controlUrl }: GatewayProcess): Promise<Record<string, number>> {
  const page = await (await fetch(`${controlUrl}/metrics`)).text();
  const lines = page.matchAll(/^countersign_relays_total\{result="(\w+)"\} (\d+)$/gmu);
  return Object.fromEntries([...lines].map(([, result, count]) => [result, Number(count)]));
}

test(`${CLIENTS} people before ${GATEWAYS} gateways and a load balancer without stickiness, their lines torn and frozen ${BREAKS} times, one gateway told to stop meanwhile: each has every event once and in order, each is signed for once, and no agent is asked twice`, async () => {
  const followers = await createFollowers(scene, WORDS);
  const gateways = await startRelaying(followers.agent.url, GATEWAYS);
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
  const relays = await Promise.all(staying.map(relaysOf));
  report(`${line.connections()} connections for ${CLIENTS} runs; relays ${JSON.stringify(relays)}`);
  for (const { taken = 0 } of relays) expect(taken).toBeGreaterThan(CLIENTS / GATEWAYS);
  await line.stop();
  for (const gateway of staying) expect(await gateway.stop()).toBe(0);
  const log = await checkLog(leaving.directory);
  expect(unreceipted(log, runs)).toEqual([]);
  const outbound = log.entries.filter(({ direction }) => direction === "outbound");
  expect(outbound).toHaveLength(CLIENTS * (WORDS + 4));
}, 240_000);

/** A stream of a gateway, or its rest. */
function listen({ url }: GatewayProcess, last?: ClientRun): ClientRun {
  const headers: Record<string, string> = {};
  if (last?.lastId !== undefined) headers["last-event-id"] = last.lastId;
  return openRun(url, { threadId: "t", runId: "r", path: "/agents/support?reconnect=1", headers });
}

const since = (from: number): number => Math.round(performance.now() - from);

test("a gateway that is held up, then killed: who comes back elsewhere is told so in seconds, has the rest if it goes on, and is never left waiting", async () => {
  const agent = await startFakeAgent((request) => chatter(request, 20));
  scene.defer(() => agent.stop());
  const gateways = await startRelaying(agent.url, 2);
  const [first, second] = gateways as [GatewayProcess, GatewayProcess];
  const began = listen(first);
  await until("it is under way", () => began.events.length > 5);
  began.abort();
  await began.ended;
  const passed = listen(second, began);
  await until("it goes on at the other", () => passed.events.length > 5);
  first.child.kill("SIGSTOP");
  const held = performance.now();
  await passed.ended;
  report(`a link that fell silent was cut after ${since(held)} ms`);
  expect(passed.isComplete).toBe(false);
  const asked = performance.now();
  const refused = listen(second, passed);
  await refused.ended;
  report(`a gateway that is held up was given up on after ${since(asked)} ms`);
  expect([refused.status, codeOf(refused)]).toEqual([503, "ERR_STREAM_UNREACHABLE"]);
  first.child.kill("SIGCONT");
  let again = listen(second, passed);
  await until("it goes on", async () => {
    if (again.events.length > 5) return true;
    if (again.status === 200 || again.status === 0) return false;
    await again.ended;
    again = listen(second, passed);
    return false;
  });
  await first.kill();
  await again.ended;
  expect(again.isComplete).toBe(false);
  const words = [began, passed, again]
    .flatMap(({ events }) => events)
    .filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
  expect(words.map(({ delta }) => delta)).toEqual(words.map((_, word) => `word ${word} `));
  const statuses: number[] = [];
  await until("it is known to be gone", async () => {
    const tried = listen(second, again);
    await tried.ended;
    statuses.push(tried.status);
    return tried.status === 410;
  });
  expect(statuses.every((status) => status === 503 || status === 410)).toBe(true);
  expect(agent.requests).toHaveLength(1);
}, 120_000);
