import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeAgent, FakePiece } from "@countersign/testkit";
import { expect, test } from "vitest";
import { chatter, idsOf } from "./harness/agent.js";
import { openRun } from "./harness/client.js";
import type { ClientRun, SeenEvent } from "./harness/client.js";
import { startSharing } from "./harness/fleet.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { chooseSeed, pause, report, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const CLIENTS = scaled(16, 60);
const WORDS = scaled(40, 200);
const EVERY_MS = 15;
const PATH = "/agents/support?reconnect=1";

/** An agent that says its words; a run named `long` says them until its connection closes. */
async function startAgent(): Promise<FakeAgent> {
  const agent = await startFakeAgent((request) => {
    if (idsOf(request).runId.startsWith("long")) return chatter(request, EVERY_MS);
    return {
      pieces: (async function* (): AsyncGenerator<FakePiece> {
        const ids = idsOf(request);
        const messageId = `m-${ids.runId}`;
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        yield sseFrame({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
        for (let word = 0; word < WORDS; word += 1) {
          yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `word ${word} ` });
          await pause(EVERY_MS);
        }
        yield sseFrame({ type: "TEXT_MESSAGE_END", messageId });
        yield sseFrame({ type: "RUN_FINISHED", ...ids });
      })(),
    };
  });
  scene.defer(() => agent.stop());
  return agent;
}

/** Starts a run, or resumes it after its last event. */
function listen({ url }: GatewayProcess, runId: string, lastId?: string): ClientRun {
  const headers = lastId === undefined ? {} : { "last-event-id": lastId };
  return openRun(url, { threadId: `t-${runId}`, runId, path: PATH, headers });
}

/** The words of a run, which must be all of the first ones, once and in order. */
function expectOrdered(events: readonly SeenEvent[]): void {
  expect(events[0]?.type).toBe("RUN_STARTED");
  const said = events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
  expect(said.map(({ delta }) => delta)).toEqual(said.map((_, word) => `word ${word} `));
  const ends = events.filter(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR");
  expect(ends).toHaveLength(1);
  expect(ends[0]).toBe(events.at(-1));
}

test.each([2, 4])(
  "kill -9 of one of %i gateways in mid-stream: its clients, each cut after another number of events, resume elsewhere and have each event once, in order and signed for; what the agent did not finish ends with one signed error; the runs of the others finish",
  async (count) => {
    const agent = await startAgent();
    const gateways = await startSharing(scene, agent.url, count);
    const [victim, ...staying] = gateways as [GatewayProcess, ...GatewayProcess[]];
    const seed = chooseSeed();
    report(`seed ${seed}`);
    const runs = Array.from({ length: CLIENTS }, (_, number) => {
      const isVictims = number % 2 === 0;
      const at = isVictims ? victim : (staying[number % staying.length] as GatewayProcess);
      // The connection of each client is cut after another number of events.
      const cutAfter = 1 + ((number * 7 + seed) % WORDS);
      const runId = `${isVictims && number % 4 === 0 ? "long" : "short"}-${number}`;
      const run = listen(at, runId);
      return { runId, run, isVictims, cutAfter };
    });
    const cut = async ({ run, cutAfter }: (typeof runs)[number]): Promise<void> => {
      while (run.events.length < cutAfter && !run.request.destroyed) await pause(2);
      run.abort();
      await run.ended;
    };
    const cutting = Promise.all(runs.map(cut));
    await until("the streams are under way", () => runs.every(({ run }) => run.events.length > 0));
    await pause((WORDS * EVERY_MS) / 2);
    await victim.kill();
    const killed = performance.now();
    await cutting;
    const results = await Promise.all(
      runs.map(async ({ runId, run, isVictims }, number) => {
        const there = staying[(number + 1) % staying.length] as GatewayProcess;
        const events = [...run.events];
        let lastId = run.lastId;
        for (let tries = 0; tries < 5; tries += 1) {
          const last = events.at(-1)?.type;
          if (last === "RUN_FINISHED" || last === "RUN_ERROR") break;
          const next = listen(there, runId, lastId);
          await next.ended;
          expect([runId, next.status]).toEqual([runId, 200]);
          events.push(...next.events);
          lastId = next.lastId ?? lastId;
        }
        return { runId, isVictims, events };
      }),
    );
    report(
      `${count} gateways: all clients had the end ${Math.round(performance.now() - killed)} ms after the kill`,
    );
    const endOf = ({ events }: (typeof results)[number]): unknown => {
      const last = events.at(-1);
      return last?.type === "RUN_FINISHED" ? `${events.length} events` : last?.["code"];
    };
    const whole = `${WORDS + 4} events`;
    for (const result of results) {
      expectOrdered(result.events);
      // Without the victim a run finishes; with it, only one that the agent had finished.
      const allowed = result.runId.startsWith("long") ? [] : [whole];
      if (result.isVictims) allowed.push("GATEWAY_LOST");
      expect(allowed, result.runId).toContain(endOf(result));
    }
    expect(agent.requests).toHaveLength(CLIENTS);
    for (const gateway of staying) expect(await gateway.stop()).toBe(0);
    const log = await checkLog((staying[0] as GatewayProcess).directory);
    expect(unreceipted(log, results)).toEqual([]);
    for (const { runId, events } of results) {
      const signed = log.entries.filter(
        (entry) => entry.run_id === runId && entry.receipt["event_type"] === "error",
      );
      const isLost = events.at(-1)?.["code"] === "GATEWAY_LOST";
      expect([runId, signed.length]).toEqual([runId, isLost ? 1 : 0]);
    }
  },
  180_000,
);

test("a gateway that is held up counts as gone: its stream ends with one error, also after it goes on", async () => {
  const agent = await startAgent();
  const gateways = await startSharing(scene, agent.url, 2);
  const [first, second] = gateways as [GatewayProcess, GatewayProcess];
  const began = listen(first, "long-1");
  await until("it is under way", () => began.events.length > 20);
  began.abort();
  await began.ended;
  first.child.kill("SIGSTOP");
  const held = performance.now();
  const passed = listen(second, "long-1", began.lastId);
  await passed.ended;
  report(`a gateway that is held up was given up ${Math.round(performance.now() - held)} ms later`);
  first.child.kill("SIGCONT");
  expectOrdered([...began.events, ...passed.events]);
  expect(passed.events.at(-1)?.["code"]).toBe("GATEWAY_LOST");
  await pause(1500);
  const late = listen(second, "long-1", began.lastId);
  await late.ended;
  expect(late.events).toEqual(passed.events);
  // Without a client the run ends at its own gateway too.
  await until("the agent hears it", () => agent.requests[0]?.signal.aborted === true, 60_000);
  expect(agent.requests).toHaveLength(1);
}, 120_000);
