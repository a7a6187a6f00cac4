import * as fc from "fast-check";
import type { JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import { loadPolicy } from "../document/load.js";
import { compilePolicy } from "./compile.js";
import type { EvidenceSettings } from "./evidence-settings.js";
import { REDACTED } from "./evidence-settings.js";

const SECRET = "s3cret";

function settingsOf(block: string): EvidenceSettings {
  const text = `hushspec: "0.1.0"\nname: p\nrules:\n  ag_ui: {}\n  ag_ui_evidence: ${block}\n`;
  return compilePolicy(loadPolicy(text)).evidence;
}

const redacted = (block: string, payload: JsonValue): JsonValue | undefined =>
  settingsOf(block).redact?.(payload).value;

/** JSON in which each member `password`, however deep, in text too, has the secret. */
const withSecrets: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<JsonValue>("text", 7, null, true),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.record({ Password: fc.constant<JsonValue>(SECRET), other: tie("value") }),
    fc.record({ password: fc.constant<JsonValue>({ deep: [SECRET] }), "a/b~": tie("value") }),
    tie("value").map((inner) => JSON.stringify({ arguments: inner, password: SECRET })),
    fc.record({
      op: fc.constant<JsonValue>("replace"),
      path: fc.constantFrom<JsonValue>("/password", "/user/PASSWORD/-", "/password/x"),
      value: fc.constant<JsonValue>(SECRET),
    }),
  ),
})).value;

test("no value of a named member is left in a copy, however deep, in JSON inside of texts and in state changes too", () => {
  fc.assert(
    fc.property(withSecrets, (payload) => {
      const { redact } = settingsOf("{ redact: [password] }");
      const copy = redact?.(payload);
      expect(JSON.stringify(copy?.value)).not.toContain(SECRET);
      const isTouched = JSON.stringify(payload).includes(SECRET);
      expect((copy?.places.length ?? 0) > 0).toBe(isTouched);
      expect(copy?.value === payload).toBe(!isTouched);
    }),
  );
});

test("a removed value is marked, its place is listed, and the rest stays", () => {
  const { redact } = settingsOf('{ redact: ["*token*"] }');
  expect(redact?.({ user: { apiToken: "x", name: "kim" }, list: [{ token: 1 }] })).toEqual({
    value: { user: { apiToken: REDACTED, name: "kim" }, list: [{ token: REDACTED }] },
    places: ["/user/apiToken", "/list/0/token"],
  });
});

test("a part of streamed arguments is removed as a whole, whole arguments only where they are named", () => {
  const part = { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '"password":"s' };
  expect(redacted("{ redact: [password] }", part)).toEqual({ ...part, delta: REDACTED });
  const whole = { ...part, delta: '{"amount":1,"password":"s"}' };
  expect(redacted("{ redact: [password] }", whole)).toEqual({
    ...part,
    delta: `{"amount":1,"password":"${REDACTED}"}`,
  });
});

test("arguments in a history that are cut off are removed as a whole", () => {
  const call = { id: "c", function: { name: "login", arguments: '{"password":"s' } };
  expect(redacted("{ redact: [password] }", { toolCalls: [call] })).toEqual({
    toolCalls: [{ ...call, function: { name: "login", arguments: REDACTED } }],
  });
});

test("without names nothing is removed, and a block that is off has no effect", () => {
  expect(settingsOf("{}").redact).toBeUndefined();
  expect(settingsOf("{ enabled: false, redact: [password] }").redact).toBeUndefined();
});

test("an event is never kept if any of its effects matches", () => {
  const facts = {
    source: "STATE_DELTA",
    direction: "outbound",
    eventType: "state_update",
    classification: "mutate",
    derived: "mutate",
    also: [{ eventType: "form_action", classification: "submit", derived: "submit" }],
  } as const;
  expect(settingsOf("{ never: [{ classification: submit }] }").isNever(facts)).toBe(true);
  expect(settingsOf("{ never: [{ classification: create }] }").isNever(facts)).toBe(false);
  expect(settingsOf("{ never: [{}] }").isNever(facts)).toBe(true);
  expect(settingsOf("{ enabled: false, never: [{}] }").isNever(facts)).toBe(false);
});

test("a match that covers every event is reported", () => {
  const text = (never: string): string =>
    `hushspec: "0.1.0"\nname: p\nrules:\n  ag_ui: {}\n  ag_ui_evidence: { never: [${never}] }\n`;
  expect(loadPolicy(text("{}")).notes).toMatchObject([{ code: "no-effect" }]);
  expect(loadPolicy(text("{ tool: pay }")).notes).toEqual([]);
});
