import { CountersignError } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { expect, test } from "vitest";
import { inRun } from "../../testing/events.js";
import { CHAT_POLICY } from "../../testing/fixture.js";
import { chunk, createInProcess } from "../../testing/in-process.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT = { ...IDS, messages: [] };
const TEXT = [
  { type: "TEXT_MESSAGE_START", messageId: "m" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "too much" },
  { type: "TEXT_MESSAGE_END", messageId: "m" },
];

/** Like the sink of a protobuf client with an event that is too long in that encoding. */
function refuseText(events: readonly AgUiEvent[]): void {
  if (!events.some(({ type }) => type === "TEXT_MESSAGE_CONTENT")) return;
  throw new CountersignError("ERR_LIMIT_EXCEEDED", "too long", {
    limit: "maxFrameBytes",
    allowed: 1,
  });
}

test("an event that cannot be encoded for the client ends its run with an error, and no other run", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const { delivered, failures } = await gateway.run(INPUT, [chunk(inRun(IDS, TEXT))], {
    onSend: refuseText,
  });
  const next = await gateway.run({ ...INPUT, runId: "s" }, [chunk(inRun(IDS, []))]);
  await gateway.close();
  expect(delivered).toMatchObject([{ type: "RUN_ERROR", code: "GATEWAY_LIMIT" }]);
  expect(failures).toEqual(["GATEWAY_LIMIT"]);
  expect(next.delivered.at(-1)?.type).toBe("RUN_FINISHED");
});

test("an event that cannot be written does not prevent the end of its run", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  // In one write with the event that cannot be written: a start that is out of order, which ends the run.
  const events = [...TEXT, { type: "RUN_STARTED", ...IDS, runId: "other" }];
  const { delivered } = await gateway.run(INPUT, [chunk(inRun(IDS, events))], {
    onSend: refuseText,
  });
  await gateway.close();
  expect(delivered).toMatchObject([{ type: "RUN_ERROR", code: "AGENT_PROTOCOL_VIOLATION" }]);
});

test("a log that returns fewer receipts than entries has recorded none", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const { recorder } = gateway;
  const appendAll = recorder.appendAll.bind(recorder);
  recorder.appendAll = async (drafts) => (await appendAll(drafts)).slice(1);
  const { delivered } = await gateway.run(INPUT, [chunk(inRun(IDS, TEXT))]);
  await gateway.close();
  expect(delivered).toMatchObject([{ type: "RUN_ERROR", code: "RECEIPTS_UNAVAILABLE" }]);
});
