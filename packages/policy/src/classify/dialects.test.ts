import { expect, test } from "vitest";
import type { JsonObject } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { createUpgrader } from "@countersign/wire/dialects";
import { policyOf, verdict } from "../testing/judge.js";
import { classifyEvent } from "./event.js";

const policy = policyOf(
  "ag_ui: { allow_display_without_capability: true }\nag_ui_tools: { call: { allow: [look_up] } }\n",
);
const context = {
  refinements: policy.refinements,
  clientTools: new Set<string>(),
  toolNames: new Map([["c1", "look_up"]]),
};

/**
 * The decisions for the events, without repetitions: dialects split the same content into more or
 * fewer events.
 */
function decisions(events: readonly JsonObject[]): string[] {
  const all = events.map((event) => {
    const facts = classifyEvent(event as unknown as AgUiEvent, context);
    return `${facts.eventType} ${facts.classification}: ${verdict(policy, facts)}`;
  });
  return all.filter((entry, index) => entry !== all[index - 1]);
}

const native: JsonObject[] = [
  { type: "RUN_STARTED", threadId: "t", runId: "r" },
  { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "hi" },
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "look_up" },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
  { type: "CUSTOM", name: "countersign.ui_render_hint", value: { component: "chart", props: {} } },
  { type: "RUN_FINISHED", threadId: "t", runId: "r" },
];

const superseded: JsonObject[] = [
  { type: "RUN_STARTED", runId: "r", agentId: "a", timestamp: 1 },
  { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "hi" },
  { type: "TOOL_CALL_START", toolCallId: "c1", toolName: "look_up", args: {} },
  { type: "UI_RENDER_HINT", component: "chart", props: {} },
  { type: "RUN_FINISHED", runId: "r", status: "success" },
];

test("a stream in the superseded dialect is decided like its native form", () => {
  let minted = 0;
  const upgrader = createUpgrader({
    dialect: "0.1.0",
    mintId: (kind) => `${kind}-${(minted += 1)}`,
  });
  const events = superseded.flatMap((event) => [...upgrader.push(event).events]);
  expect(decisions(events)).toEqual(decisions(native));
});
