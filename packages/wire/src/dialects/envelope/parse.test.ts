import { CLASSIFICATIONS, PLAIN_EVENT_TYPES } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import { MAX_ENVELOPE_IDENTIFIER_LENGTH, unwrapEnvelope, unwrapPartialEnvelope } from "../index.js";

const SAMPLE: JsonObject = {
  event_id: "evt_01HZ8A3",
  timestamp: 1_744_993_928,
  agent_id: "agent-support",
  session_id: "sess_01HZ",
  event_type: "form_action",
  target: { component_type: "modal", component_id: "confirm-refund" },
  classification: "submit",
  payload: { prompt: "Issue $42.50 refund to order #1024?" },
};

test("an envelope comes back member for member, its capability beside it", () => {
  expect(unwrapEnvelope(SAMPLE)).toEqual({ envelope: SAMPLE });
  expect(unwrapEnvelope({ ...SAMPLE, capability: "a.b.c" })).toEqual({
    envelope: SAMPLE,
    capability: "a.b.c",
  });
});

test("every event type and classification is accepted, a custom type in both spellings", () => {
  for (const event_type of PLAIN_EVENT_TYPES) {
    expect(unwrapEnvelope({ ...SAMPLE, event_type }).envelope.event_type).toBe(event_type);
  }
  for (const classification of CLASSIFICATIONS) {
    expect(unwrapEnvelope({ ...SAMPLE, classification }).envelope).toMatchObject({
      classification,
    });
  }
  for (const event_type of [{ custom: "clipboard-copy" }, 'custom("clipboard-copy")']) {
    expect(unwrapEnvelope({ ...SAMPLE, event_type }).envelope.event_type).toEqual({
      custom: "clipboard-copy",
    });
  }
});

const IDENTIFIERS = ["event_id", "agent_id", "session_id"];
const BAD_IDENTIFIERS: unknown[] = [
  "",
  "  ",
  " padded",
  "padded\t",
  "a\u0000b",
  "a\u0085b",
  5,
  null,
  {},
];

test.each(IDENTIFIERS.flatMap((field) => BAD_IDENTIFIERS.map((value) => [field, value] as const)))(
  "%s of %j is refused",
  (field, value) => {
    expect(() => unwrapEnvelope({ ...SAMPLE, [field]: value } as JsonObject)).toThrow(
      expect.objectContaining({
        code: "ERR_DIALECT_ENVELOPE",
        facts: expect.objectContaining({ event: 1, field }),
      }),
    );
  },
);

test("an identifier may be as long as the limit and not one longer", () => {
  const at = "x".repeat(MAX_ENVELOPE_IDENTIFIER_LENGTH);
  expect(unwrapEnvelope({ ...SAMPLE, event_id: at }).envelope.event_id).toBe(at);
  expect(() => unwrapEnvelope({ ...SAMPLE, event_id: `${at}x` })).toThrow("too long");
});

test.each<[string, unknown]>([
  ["timestamp", 1.5],
  ["timestamp", -1],
  ["timestamp", "1744993928"],
  ["timestamp", Number.MAX_SAFE_INTEGER],
  ["event_type", "custom"],
  ["event_type", "custom()"],
  ["event_type", { custom: "a", other: 1 }],
  ["event_type.custom", { custom: "" }],
  ["event_type", "toString"],
  ["target", null],
  ["target", "modal"],
  ["target", { component_type: "modal", extra: 1 }],
  ["target.component_type", {}],
  ["target.component_id", { component_type: "modal", component_id: " x" }],
  ["classification", "Display"],
  ["classification", null],
  ["capability", 5],
  ["capability", null],
])("%s with %j is refused", (field, value) => {
  const member = field.split(".")[0] ?? field;
  expect(() => unwrapEnvelope({ ...SAMPLE, [member]: value } as JsonObject)).toThrow(
    expect.objectContaining({
      code: "ERR_DIALECT_ENVELOPE",
      facts: expect.objectContaining({ field }),
    }),
  );
});

test.each(["event_id", "timestamp", "agent_id", "event_type", "classification", "payload"])(
  "an envelope without %s is refused, a partial one is read",
  (field) => {
    const rest = Object.fromEntries(Object.entries(SAMPLE).filter(([key]) => key !== field));
    expect(() => unwrapEnvelope(rest)).toThrow("is missing");
    expect(unwrapPartialEnvelope(rest)).toEqual({ envelope: rest });
  },
);

test("a member that is not defined is refused without repeating its name", () => {
  expect(() => unwrapEnvelope({ ...SAMPLE, sk_live_secret: 1 })).toThrow(
    expect.objectContaining({
      code: "ERR_DIALECT_ENVELOPE",
      message: expect.not.stringContaining("secret"),
    }),
  );
  expect(() => unwrapPartialEnvelope({ type: "CUSTOM" })).toThrow("not defined");
  expect(() => unwrapEnvelope([])).toThrow("must be an object");
});

test("a null payload is a payload", () => {
  expect(unwrapEnvelope({ ...SAMPLE, payload: null }).envelope.payload).toBeNull();
});
