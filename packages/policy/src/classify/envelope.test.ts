import { expect, test } from "vitest";
import type { JsonObject } from "@countersign/core";
import { classifyEnvelope } from "./envelope.js";

const envelope = (fields: JsonObject): JsonObject => ({
  event_id: "evt_1",
  timestamp: 1_744_993_921,
  agent_id: "agent-support",
  payload: {},
  ...fields,
});

test.each([
  [
    {
      event_type: "text_stream",
      target: { component_type: "chat-window", component_id: "main" },
      classification: "display",
    },
    {
      eventType: "text_stream",
      classification: "display",
      target: { component_type: "chat-window", component_id: "main" },
    },
  ],
  [
    {
      event_type: "lifecycle",
      target: { component_type: "form" },
      classification: "create",
      payload: { fields: ["order_id"] },
    },
    { eventType: "lifecycle", classification: "create", derived: "create" },
  ],
  [
    { event_type: "form_action", classification: "submit" },
    { eventType: "form_action", classification: "submit", derived: "submit" },
  ],
  [{ event_type: "notification" }, { classification: "alert" }],
  [
    { event_type: { custom: "clipboard" } },
    { eventType: "custom", customName: "clipboard", classification: "mutate" },
  ],
  [{ event_type: 'custom("clipboard")' }, { eventType: "custom", customName: "clipboard" }],
  [{ event_type: "lifecycle", payload: { action: "Unmounted" } }, { classification: "destroy" }],
  [{ event_type: "lifecycle", payload: { action: "explode" } }, { classification: "destroy" }],
] as [JsonObject, object][])("%j is classified", (fields, expected) => {
  const facts = classifyEnvelope(envelope(fields), "outbound");
  expect(facts).toMatchObject(expected);
  expect(facts.mismatch).toBeUndefined();
});

test.each([
  [{ event_type: "form_action", classification: "display" }, "supplied Display, derived Submit"],
  [{ event_type: "state_update", classification: "alert" }, "supplied Alert, derived Mutate"],
  [
    { event_type: "lifecycle", classification: "display", payload: { action: "open" } },
    "supplied Display, derived Create",
  ],
] as [JsonObject, string][])("a weaker claim is a mismatch: %j", (fields, sentence) => {
  expect(classifyEnvelope(envelope(fields), "inbound").mismatch).toBe(
    `event classification mismatch: ${sentence}`,
  );
});

test.each([
  [{}, "event_type"],
  [{ event_type: "telepathy" }, "event_type"],
  [{ event_type: "error", classification: "harmless" }, "classification"],
  [{ event_type: "error", target: [] }, "target"],
  [{ event_type: "error", target: {} }, "target.component_type"],
  [{ event_type: "error", target: { component_type: " modal" } }, "target.component_type"],
  [
    { event_type: "error", target: { component_type: "m", component_id: "a\u0007" } },
    "target.component_id",
  ],
] as [JsonObject, string][])("a field the decision rests on must be sound: %j", (fields, field) => {
  expect(() => classifyEnvelope(envelope(fields), "outbound")).toThrow(
    expect.objectContaining({ code: "ERR_POLICY_ENVELOPE", facts: { field } }),
  );
});

test.each([
  [{ action: "update", lifecycle: "destroyed" }, "destroy"],
  [{ action: "destroy", event: "updated" }, "destroy"],
  [{ lifecycle: "update", event: "opened" }, "create"],
])("of several verbs the strictest counts: %j is %s", (payload, expected) => {
  const facts = classifyEnvelope({ event_type: "lifecycle", payload }, "outbound");
  expect(facts.derived).toBe(expected);
});
