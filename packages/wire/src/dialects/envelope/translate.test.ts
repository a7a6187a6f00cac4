import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import type { AgUiEvent } from "../../model/event.js";
import {
  carryEnvelope,
  createUpgrader,
  unwrapEnvelope,
  upgradeEnvelope,
  wrapEnvelope,
} from "../index.js";
import type { Envelope, EnvelopeFacts, Upgrader } from "../index.js";

const TEXT: JsonObject = {
  event_id: "evt_01HZ8A1",
  timestamp: 1_744_993_921,
  agent_id: "agent-support",
  session_id: "sess_01",
  event_type: "text_stream",
  target: { component_type: "chat-window", component_id: "main" },
  classification: "display",
  payload: { text: "I'll check your order status now." },
};
const FORM: JsonObject = {
  event_id: "evt_01HZ8A2",
  timestamp: 1_744_993_923,
  agent_id: "agent-support",
  session_id: "sess_01",
  event_type: "lifecycle",
  target: { component_type: "form", component_id: "refund-request" },
  classification: "create",
  payload: { fields: ["order_id", "reason", "amount"] },
};

function chio(): Upgrader {
  return createUpgrader({ dialect: "auto", mintId: (kind) => `${kind}-1` });
}

function factsOf(envelope: Envelope): EnvelopeFacts {
  return {
    eventId: envelope.event_id,
    timestamp: envelope.timestamp,
    agentId: envelope.agent_id,
    ...(envelope.session_id === undefined ? {} : { sessionId: envelope.session_id }),
    eventType: envelope.event_type,
    ...(envelope.target === undefined ? {} : { target: envelope.target }),
    classification: envelope.classification,
  };
}

test("the first envelope opens a run on its session's thread, then text is one whole message", () => {
  const upgrader = chio();
  const { events, notes, claim } = upgrader.push(TEXT);
  expect(upgrader.dialect).toBe("chio");
  expect(events).toEqual([
    {
      type: "RUN_STARTED",
      threadId: "sess_01",
      runId: "run-1",
      protocolVersion: "1.0",
      metadata: { countersign: { agentId: "agent-support" } },
    },
    {
      type: "TEXT_MESSAGE_START",
      timestamp: 1_744_993_921_000,
      messageId: "evt_01HZ8A1",
      role: "assistant",
    },
    {
      type: "TEXT_MESSAGE_CONTENT",
      timestamp: 1_744_993_921_000,
      messageId: "evt_01HZ8A1",
      delta: "I'll check your order status now.",
    },
    { type: "TEXT_MESSAGE_END", timestamp: 1_744_993_921_000, messageId: "evt_01HZ8A1" },
  ]);
  expect(notes.map(({ rule }) => rule)).toEqual(["run-supplied"]);
  expect(claim).toEqual({ envelope: TEXT });
  expect(upgrader.end().events).toEqual([]);
});

test("an envelope without a native form rides in a CUSTOM event, its claims intact", () => {
  const upgrader = chio();
  upgrader.push(TEXT);
  const { events, claim } = upgrader.push({ ...FORM, capability: "token" });
  expect(events).toEqual([
    { type: "CUSTOM", timestamp: 1_744_993_923_000, name: "countersign.envelope", value: FORM },
  ]);
  expect(claim).toEqual({ envelope: FORM, capability: "token" });
  expect(JSON.stringify(events)).not.toContain("token");
});

test.each<unknown>([{ text: "a", format: "html" }, { text: 5 }, "text", null, []])(
  "a text_stream whose payload is %j is not reduced to text",
  (payload) => {
    const { events } = chio().push({ ...TEXT, payload } as JsonObject);
    expect(events[1]).toMatchObject({ type: "CUSTOM", value: { payload } });
  },
);

test("a native event on an envelope stream is refused", () => {
  const upgrader = chio();
  upgrader.push(TEXT);
  expect(() => upgrader.push({ type: "CUSTOM", name: "a", value: 1 })).toThrow(
    expect.objectContaining({ code: "ERR_DIALECT_MIXED" }),
  );
});

test("every sample envelope reaches an envelope client unchanged", () => {
  const upgrader = chio();
  for (const sample of [TEXT, FORM]) {
    const { events, claim } = upgrader.push(sample);
    const facts = factsOf(claim?.envelope ?? unwrapEnvelope(sample).envelope);
    const wrapped = events
      .filter(({ type }) => type !== "RUN_STARTED")
      .map((event) => wrapEnvelope(event as unknown as AgUiEvent, facts))
      .filter((envelope) => envelope !== undefined);
    expect(wrapped).toEqual([sample]);
  }
});

test("a carried envelope lends its payload and none of its claims", () => {
  const facts = factsOf(unwrapEnvelope(FORM).envelope);
  const forged: AgUiEvent = {
    type: "CUSTOM",
    name: "countersign.envelope",
    value: { ...TEXT, classification: "display", payload: 7 },
  };
  expect(wrapEnvelope(forged, facts)).toEqual({ ...FORM, payload: 7 });
});

test("a native event is wrapped whole, a chunk of text as its text", () => {
  const facts = factsOf(unwrapEnvelope(TEXT).envelope);
  const event: AgUiEvent = { type: "STEP_STARTED", stepName: "s" };
  expect(wrapEnvelope(event, facts)?.payload).toEqual(event);
  expect(wrapEnvelope({ type: "TEXT_MESSAGE_CHUNK", delta: "d" }, facts)?.payload).toEqual({
    text: "d",
  });
  expect(
    wrapEnvelope({ type: "CUSTOM", name: "countersign.envelope", value: 1 }, facts)?.payload,
  ).toEqual({
    type: "CUSTOM",
    name: "countersign.envelope",
    value: 1,
  });
});

test("an envelope is carried as one event, text included, so that it is judged once", () => {
  const { envelope } = unwrapEnvelope(TEXT);
  expect(carryEnvelope(envelope)).toEqual({
    type: "CUSTOM",
    timestamp: envelope.timestamp * 1000,
    name: "countersign.envelope",
    value: envelope,
  });
  expect(upgradeEnvelope(envelope).map(({ type }) => type)).toEqual([
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
  ]);
});
