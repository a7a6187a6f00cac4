import { sseFrame } from "@countersign/testkit";
import { canonicalJson, parseJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { afterEach, expect, test } from "vitest";
import { idsOf, inRun } from "../../testing/events.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { post, socketRun } from "../../testing/transports.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

const VALUE = '{"zebra":1,"apple":{"y":[{"b":1,"a":2}],"x":0},"Mango":"m"}';
const EVENTS = [
  { type: "STATE_SNAPSHOT", snapshot: JSON.parse(VALUE) },
  { type: "STATE_DELTA", delta: [{ op: "add", path: "/more", value: JSON.parse(VALUE) }] },
  { type: "CUSTOM", name: "vendor.table", value: JSON.parse(VALUE) },
  { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "card", content: JSON.parse(VALUE) },
  { type: "STEP_STARTED", stepName: "s", metadata: JSON.parse(VALUE) },
  { type: "STEP_FINISHED", stepName: "s" },
];

test("values of the application keep the order of their members, and the receipt has the canonical hash", async () => {
  const started = await startFixture(
    ({ body }) => ({ pieces: inRun(idsOf(body), EVENTS).map(sseFrame) }),
    { policy: OPEN_POLICY },
  );
  fixture = started;
  const url = `${started.url}/agents/support`;
  const body = await (await post(url, { threadId: "t", runId: "r" })).text();
  const frames = body.split("\n\n").filter((frame) => frame.includes("zebra"));
  expect(frames).toHaveLength(EVENTS.length - 1);
  for (const frame of frames) expect(frame).toContain(VALUE);
  const hashes = started.recorder.drafts.map(({ receipt }) => receipt.payload_hash);
  for (const frame of frames) {
    expect(hashes).toContain(sha256Hex(canonicalJson(parseJson(frame.slice(6)) as JsonValue)));
  }
  const overSocket = await socketRun(`${started.webSocketUrl}/ws`, { threadId: "t2", runId: "r" });
  const shown = overSocket
    .map((event) => JSON.stringify(event))
    .filter((text) => text.includes("zebra"));
  expect(shown).toHaveLength(EVENTS.length - 1);
  for (const text of shown) expect(text).toContain(VALUE);
});
