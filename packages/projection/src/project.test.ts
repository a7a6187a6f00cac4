import { expect, test } from "vitest";
import { projectAll, outline } from "./testing/drive.js";
import { brokenRules, readOfficially } from "./testing/official-client.js";
import { everyKind, transcript } from "./testing/sample-ledger.js";

test("the reference transcript becomes nineteen frames in order", () => {
  const { frames, diagnostics } = projectAll(transcript());
  expect(diagnostics).toEqual([]);
  expect(outline(frames)).toMatchInlineSnapshot(`
    [
      "RUN_STARTED",
      "agent-os.chat.ingested",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "agent-os.tool.started",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "agent-os.llm.completed",
      "agent-os.llm.usage",
      "TOOL_CALL_RESULT",
      "agent-os.tool.completed",
      "RUN_FINISHED",
    ]
  `);
});

test("every kind", async () => {
  const { frames, diagnostics } = projectAll(everyKind());
  console.log(JSON.stringify(frames, null, 1), diagnostics);
  console.log(brokenRules(frames));
  const read = await readOfficially(frames);
  console.log(read.failure, JSON.stringify(read.messages, null, 1), read.interrupts);
});
