import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { idsOf, inRun, text } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { post } from "../testing/transports.js";

let served: Served;
afterEach(() => served.stop());

const ACTIVE = "ag_ui: { allow_display_without_capability: true }\n";

async function compare(body: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await served.control("/v1/policy/compare", {
    method: "POST",
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test("a candidate is compared with the active policy, and judges recorded decisions again", async () => {
  served = await startServed(
    ({ body }) => ({ pieces: inRun(idsOf(body), text("m1", "hi")).map(sseFrame) }),
    { policy: ACTIVE },
  );
  const url = `${served.running.dataUrl}/agents/support?session=s1`;
  await (await post(url, { threadId: "t1", runId: "r1" })).text();
  const closed = await compare({ text: "ag_ui: {}\n", recorded: 5000 });
  expect(closed).toMatchObject({
    status: 200,
    body: {
      verdict: "stricter",
      before: { hash: served.running.policy.holder.current.hash },
      blocks: [
        { block: "ag_ui", changes: [{ setting: "outbound display", effect: "stricter" }] },
        { block: "ag_ui_inbound" },
      ],
      // Five events and the request that asked for them.
      recorded: { judged: 6, newly_blocked: 6, newly_allowed: 0 },
    },
  });
  const same = await compare({ text: ACTIVE, recorded: 3 });
  expect(same.body).toMatchObject({
    verdict: "same",
    blocks: [],
    recorded: { judged: 3, newly_blocked: 0, newly_allowed: 0 },
  });
  // A comparison changes nothing.
  expect(served.running.policy.reloads).toMatchObject({ ok: 0, failed: 0 });
});

test("an invalid candidate reports the position, and no file path", async () => {
  served = await startServed(() => ({ pieces: [] }), { policy: ACTIVE });
  expect(await compare({ text: "ag_ui: { transprt: sse }\n" })).toMatchObject({
    status: 422,
    body: { issues: [{ file: "candidate", line: 1, suggestion: "transport" }] },
  });
  const reading = await compare({ text: "hushspec: '0.1.0'\nextends: policy.yaml\nrules: {}\n" });
  expect(reading.status).toBe(422);
  expect(JSON.stringify(reading)).toContain("cannot read");
  expect(await compare({ text: "hushspec: '0.1.0'\nextends: strict\nrules: {}\n" })).toMatchObject({
    status: 200,
  });
});

test("streams are served between any two evaluations of an expensive candidate", async () => {
  const words = Array.from({ length: 20 }, (_, at) => text(`m${at}`, "hi")).flat();
  served = await startServed(
    ({ body }) => ({ pieces: inRun(idsOf(body), words).map((event) => sseFrame(event)) }),
    { policy: ACTIVE },
  );
  const url = `${served.running.dataUrl}/agents/support?session=s1`;
  await (await post(url, { threadId: "t1", runId: "r1" })).text();
  const list = `[${Array.from({ length: 150 }, (_, at) => at).join(",")}]`;
  const slow = `${list}.all(a, ${list}.all(b, ${list}.all(c, a + b + c >= 0)))`;
  let longest = 0;
  let isOver = false;
  const startedAt = performance.now();
  let last = startedAt;
  const turn = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!isOver) setImmediate(turn);
  };
  turn();
  const { body } = await compare({
    text: `hushspec: "0.1.0"\nrules:\n  ${ACTIVE}  ag_ui_conditions: { rules: [{ id: slow, when: '${slow}' }] }\n`,
    recorded: 5000,
  });
  isOver = true;
  expect(body["recorded"]).toMatchObject({ judged: 63 });
  expect(longest).toBeLessThan((performance.now() - startedAt) / 4);
});
