import { expect, test } from "vitest";
import { startGateway } from "./harness/gateway.js";
import { chooseSeed, report, scaled } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";
import { startRawAgent } from "./hostile/agent.js";
import { isWithinTenPercent, runCases, threadOf } from "./hostile/cases.js";
import { POISON, POLICY, realEvents } from "./hostile/corpus.js";
import { exchange } from "./hostile/exchange.js";
import { isReduction, strictValue } from "./hostile/oracle.js";
import { createRandom } from "../fuzz/engine/random.js";
import { hostilePost, hostileSocket } from "./hostile/requests.js";

const scene = createScene();
const CASES = scaled(4000, 28_000);
const SEED = chooseSeed();

/** A request with the members that the gateway supplies, empty, where the client left them out. */
function completed(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return { state: {}, tools: [], context: [], forwardedProps: {}, ...value };
}

/** The answer of an agent that wants nothing but to be asked properly. */
function answerTo(body: string): { body: Buffer; writes: Buffer[]; resets: boolean } {
  const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
  const events = realEvents({ threadId, runId }, runId).filter(({ type }) =>
    type.startsWith("RUN_"),
  );
  const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
  return { body: Buffer.from(stream), writes: [Buffer.from(head + stream)], resets: false };
}

test(`${CASES} hostile requests and sockets (SEED=${SEED}): no crash, no hang, the agent hears nothing that was not asked and allowed`, async () => {
  const random = createRandom(SEED);
  const agent = await startRawAgent(scene, answerTo);
  const gateway = await startGateway(scene, {
    agent: { url: agent.url, idle_timeout: 5 },
    policy: POLICY,
    config: { receipts: { store: "sqlite:receipts", sign: "batch" } },
  });
  const port = Number(new URL(gateway.url).port);
  const wrong: string[] = [];
  const sent = new Map<number, readonly string[]>();
  let messages = 0;
  let heard = 0;
  const one = async (index: number, slot: number): Promise<void> => {
    const own = random.forCase(index);
    const ids = { threadId: threadOf(index, slot), runId: `run-${SEED}-${index}` };
    const build = own.chance(0.4) ? hostileSocket : hostilePost;
    const request = build(ids, `s-${10 + slot}`, own);
    messages += request.count;
    sent.set(index, request.texts);
    const { hung } = await exchange(port, request.writes, 150);
    if (hung) wrong.push(`case ${index}: hangs`);
    for (const body of agent.asked.splice(0)) {
      heard += 1;
      if (body.includes(POISON)) wrong.push("poison reached the agent");
      const value = strictValue(body);
      const known = [...sent.values()].flat();
      if (!known.some((text) => isReduction(value, completed(strictValue(text))))) {
        wrong.push(`the agent heard what nobody said: ${body.slice(0, 300)}`);
      }
    }
    sent.delete(index - 200);
  };
  const { before, after, perSecond } = await runCases(gateway, CASES, one);
  report(
    `${messages} hostile messages on ${CASES} connections, ${perSecond.toFixed(0)} a second: ${heard} reached the agent, heap ${before} → ${after} bytes`,
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(gateway.hasExited()).toBe(false);
  expect(heard).toBeGreaterThan(CASES / 100);
  expect(isWithinTenPercent(before, after), `in use: ${before} → ${after} bytes`).toBe(true);
}, 600_000);
