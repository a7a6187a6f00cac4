import { sseFrame, startFakeAgent, startTornLine } from "@countersign/testkit";
import type { FakePiece } from "@countersign/testkit";
import { expect, test } from "vitest";
import { idsOf } from "./harness/agent.js";
import { openRun } from "./harness/client.js";
import type { ClientRun, SeenEvent } from "./harness/client.js";
import { startGateway } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { pause, report, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const CLIENTS = scaled(30, 120);
const WORDS = scaled(150, 600);
const EVERY_MS = 10;
const BREAKS = scaled(6, 25);

/** The connections that are open. */
const begun = new Set<ClientRun>();

/** One person whose line breaks: comes back with the last id for as long as the run is not over. */
async function follow(url: string, number: number): Promise<{ events: SeenEvent[] }> {
  const ids = { threadId: `t-${number}`, runId: `r-${number}` };
  const events: SeenEvent[] = [];
  let lastId: string | undefined;
  for (let tries = 0; tries < 200; tries += 1) {
    const headers = lastId === undefined ? undefined : { "last-event-id": lastId };
    const path = "/agents/support?reconnect=1";
    const run = openRun(url, { ...ids, path, ...(headers === undefined ? {} : { headers }) });
    begun.add(run);
    await run.ended;
    begun.delete(run);
    events.push(...run.events);
    lastId = run.lastId ?? lastId;
    if (events.at(-1)?.type === "RUN_FINISHED") break;
    if (lastId !== undefined && ![0, 200].includes(run.status)) {
      throw new Error(`the stream was not taken up, but ${run.status}`);
    }
    // Torn before it was answered: there is nothing to come back to, and the run id is used.
    if (lastId === undefined) throw new Error(`no answer, but ${run.status}`);
    await pause(20 + (number % 7) * 10);
  }
  return { events };
}

test(`${CLIENTS} people whose lines tear and freeze, ${BREAKS} times: each has every event once and in order, each is signed for once, and no agent is asked twice`, async () => {
  const agent = await startFakeAgent((request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request);
      const messageId = `m-${ids.runId}`;
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
      for (let word = 0; word < WORDS; word += 1) {
        yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `word ${word}` });
        await pause(EVERY_MS);
      }
      yield sseFrame({ type: "TEXT_MESSAGE_END", messageId });
      yield sseFrame({ type: "RUN_FINISHED", ...ids });
    })(),
  }));
  scene.defer(() => agent.stop());
  const gateway = await startGateway(scene, {
    agent: agent.url,
    config: { receipts: { store: "sqlite:receipts", sign: "batch" } },
  });
  const line = await startTornLine(Number(new URL(gateway.url).port));
  scene.defer(() => line.stop());
  const people = Array.from({ length: CLIENTS }, (_, number) => follow(line.url, number));
  const all = Promise.all(people);
  // Whoever fails is met below; meanwhile nobody awaits it.
  all.catch(() => undefined);
  const answered = (): boolean =>
    begun.size === CLIENTS && [...begun].every(({ lastId }) => lastId !== undefined);
  await until("everybody has an answer", answered);
  for (let round = 0; round < BREAKS; round += 1) {
    await pause(150 + (round % 3) * 50);
    if (round % 3 === 2) line.freeze();
    else line.tear();
  }
  const runs = await all;
  for (const { events } of runs) {
    const words = events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
    expect(words.map(({ delta }) => delta)).toEqual(words.map((_, word) => `word ${word}`));
    expect(events).toHaveLength(WORDS + 4);
  }
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
