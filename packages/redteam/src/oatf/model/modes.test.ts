import { expect, test } from "vitest";
import { isKnownEvent, isKnownSurface } from "./events.js";
import { extractProtocol, knownModes, knownProtocols } from "./modes.js";

test.each([
  ["ag_ui_client", "ag_ui"],
  ["mcp_server", "mcp"],
  ["my_own_proto_client", "my_own_proto"],
  ["_client", undefined],
  ["ag_ui", undefined],
  ["AG_UI_client", undefined],
  ["", undefined],
])("the protocol of %j is %j", (mode, protocol) => {
  expect(extractProtocol(mode)).toBe(protocol);
});

test("every known mode has a known protocol and a vocabulary", () => {
  for (const mode of knownModes()) {
    expect(knownProtocols().has(extractProtocol(mode) ?? "")).toBe(true);
    expect(isKnownEvent(mode, "no such event")).toBe(false);
  }
});

test.each([
  "run_agent_input",
  "text_message_chunk",
  "tool_call_result",
  "state_delta",
  "messages_snapshot",
  "activity_delta",
  "raw",
  "custom",
  "run_error",
  "step_finished",
  "reasoning_encrypted_value",
  "subagent_started",
  "thinking_text_message_end",
])("%s is an event and a surface of AG-UI", (name) => {
  expect(isKnownEvent("ag_ui_client", name)).toBe(true);
  expect(isKnownSurface("ag_ui", name)).toBe(true);
});

test("the joined text of a run is a surface, never an event", () => {
  expect(isKnownSurface("ag_ui", "_accumulated_response")).toBe(true);
  expect(isKnownEvent("ag_ui_client", "_accumulated_response")).toBe(false);
});
