import { expect, test } from "vitest";
import { startGateway } from "./harness/gateway.js";
import { chooseSeed, report, scaled } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";
import { startRawAgent } from "./hostile/agent.js";
import { POISON, POLICY, realInput } from "./hostile/corpus.js";
import { exchange, streamedEvents } from "./hostile/exchange.js";
import { judgeDelivery } from "./hostile/oracle.js";
import { createRandom } from "../fuzz/engine/random.js";
import { hostileAnswer } from "./hostile/streams.js";
import { isWithinTenPercent, runCases, threadOf } from "./hostile/cases.js";

const scene = createScene();
const CASES = scaled(3000, 25_000);
const SEED = chooseSeed();

test(`${CASES} hostile streams (SEED=${SEED}): no crash, no hang, nothing shown that was not sent and allowed, no memory kept`, async () => {
  const random = createRandom(SEED);
  const answers = new Map<string, ReturnType<typeof hostileAnswer>>();
  const agent = await startRawAgent(scene, (body) =>
    answers.get((JSON.parse(body) as { runId: string }).runId),
  );
  const gateway = await startGateway(scene, {
    agent: { url: agent.url, idle_timeout: 5 },
    policy: POLICY,
    config: { receipts: { store: "sqlite:receipts", sign: "batch" } },
  });
  const port = Number(new URL(gateway.url).port);
  const wrong: string[] = [];
  const seen = { streams: 0, events: 0 };
  const one = async (index: number, slot: number): Promise<void> => {
    const ids = { threadId: threadOf(index, slot), runId: `run-${SEED}-${index}` };
    const answer = hostileAnswer(ids, random.forCase(index));
    answers.set(ids.runId, answer);
    const body = JSON.stringify(realInput(ids));
    const { bytes, hung, gaveUp } = await exchange(
      port,
      [
        Buffer.from(
          `POST /agents/support?session=s-${slot} HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        ),
      ],
      8000,
    );
    answers.delete(ids.runId);
    agent.asked.length = 0;
    if (hung) wrong.push(`case ${index}: hangs`);
    if (bytes.includes(POISON)) wrong.push(`case ${index}: poison came through`);
    const events = streamedEvents(bytes);
    if (events === undefined || gaveUp) return;
    seen.streams += 1;
    seen.events += events.length;
    const verdict = judgeDelivery(events, answer.body, ids);
    if (verdict !== undefined)
      wrong.push(
        `case ${index}: ${verdict}; sent …${JSON.stringify(answer.body.subarray(-120).toString())}`,
      );
  };
  const { before, after, perSecond } = await runCases(gateway, CASES, one);
  report(
    `${CASES} hostile streams, ${perSecond.toFixed(0)} a second: ${seen.streams} begun, ${seen.events} events shown, heap ${before} → ${after} bytes`,
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(gateway.hasExited()).toBe(false);
  // Both kinds were there: streams that broke at once and streams that were shown.
  expect(seen.events).toBeGreaterThan(CASES * 2);
  expect(seen.streams).toBeLessThan(CASES);
  expect(isWithinTenPercent(before, after), `in use: ${before} → ${after} bytes`).toBe(true);
}, 600_000);
