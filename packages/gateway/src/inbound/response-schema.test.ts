import type { JsonObject } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { expect, test } from "vitest";
import type { ThreadState } from "../thread/thread-state.js";
import { createAnswerCheck, MAX_SCHEMA_CHARACTERS } from "./response-schema.js";
import { reviewAnswers } from "./interrupt-answers.js";

const AMOUNT: JsonObject = { type: "object", properties: { amount: { type: "number" } } };

/** A schema of this many characters that accepts any text. */
const ofLength = (length: number): JsonObject => {
  const frame = JSON.stringify({ type: "string", description: "" }).length;
  return { type: "string", description: "x".repeat(length - frame) };
};

test("schemas up to the limit are checked, one character more is not, in one piece or many", () => {
  expect(createAnswerCheck()(ofLength(MAX_SCHEMA_CHARACTERS), "yes")).toBe(true);
  expect(createAnswerCheck()(ofLength(MAX_SCHEMA_CHARACTERS + 1), "yes")).toBe(false);
  const check = createAnswerCheck();
  expect(check(ofLength(MAX_SCHEMA_CHARACTERS - 100), "yes")).toBe(true);
  expect(check(ofLength(100), "yes")).toBe(true);
  expect(check(ofLength(100), "yes")).toBe(false);
});

test("a schema gives the same result the second time, also one that does not compile", () => {
  for (let round = 0; round < 3; round += 1) {
    const check = createAnswerCheck();
    expect(check(AMOUNT, { amount: 5 })).toBe(true);
    expect(check(AMOUNT, { amount: "5" })).toBe(false);
    expect(check({ $ref: "https://example.com/" }, {})).toBe(false);
    for (let other = 0; other < 50; other += 1) check({ const: other }, other);
  }
});

test("a definition that is referred to a thousand times is compiled once", () => {
  const properties = (count: number, value: JsonObject): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]));
  const $defs = { a: { type: "object", properties: properties(100, { type: "string" }) } };
  const schema = { $defs, properties: properties(400, { $ref: "#/$defs/a" }) } as JsonObject;
  expect(createAnswerCheck()(schema, { p7: { p8: "x" } })).toBe(true);
  expect(createAnswerCheck()(schema, { p7: { p8: 1 } })).toBe(false);
});

test("thousands of answers to one interrupt are refused without validating each", () => {
  const entry = { interruptId: "i", status: "resolved", payload: { amount: 5 } };
  const input = { protocolVersion: "1.0", resume: Array.from({ length: 20_000 }, () => entry) };
  const interrupts = new Map([["i", { runId: "r", responseSchema: AMOUNT, toolCallId: "c" }]]);
  const state = { interrupts, declined: [], calls: new Map() } as unknown as ThreadState;
  const { findings, approvals } = reviewAnswers(input as unknown as RunAgentInput, state, 0);
  expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(["ERR_RESUME_ANSWERED"]));
  expect(approvals).toHaveLength(1);
});
