import type { JsonValue } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ACCUMULATED_RESPONSE } from "../model/events.js";
import type { NormalizedIndicator } from "../model/normalized.js";
import { normalize } from "../normalize/normalize.js";
import { evaluateAttack } from "./attack.js";
import { evaluateIndicator } from "./indicator.js";
import { MAX_SEMANTIC_CALLS, prefetchSemanticScores } from "./prefetch.js";
import type { TraceEntry } from "./trace.js";

function entry(
  seq: number,
  event: string,
  content: JsonValue,
  more: Partial<TraceEntry> = {},
): TraceEntry {
  return {
    seq,
    protocol: "ag_ui",
    actor: "default",
    direction: "response",
    event,
    content,
    ...more,
  };
}

function indicator(more: Partial<NormalizedIndicator>): NormalizedIndicator {
  return { id: "I-001-01", protocol: "ag_ui", target: "a", ...more };
}
const pattern = { condition: { contains: "x" } };
const hit = { a: "x" };

test.each<[string, Partial<NormalizedIndicator>, Partial<TraceEntry>, boolean]>([
  ["nothing but the protocol", {}, {}, true],
  ["another protocol", { protocol: "mcp" }, {}, false],
  ["the surface", { surface: "custom" }, {}, true],
  ["another surface", { surface: "raw" }, {}, false],
  ["the actor", { actor: "default" }, {}, true],
  ["another actor", { actor: "other" }, {}, false],
  ["the direction", { direction: "response" }, {}, true],
  ["another direction", { direction: "request" }, {}, false],
  ["requests when both directions count", {}, { direction: "request" }, true],
])("an indicator that names %s", (_title, filter, place, eligible) => {
  const verdict = evaluateIndicator(indicator({ pattern, ...filter }), [
    entry(0, "custom", hit, place),
  ]);
  expect(verdict.result).toBe(eligible ? "matched" : "not_matched");
  expect(verdict.evidence).toContain(eligible ? "event 0 custom" : "no eligible messages");
});

test("an unsupported protocol, a missing evaluator or a missing model is skipped", () => {
  const trace = [entry(0, "custom", hit)];
  const results = [
    evaluateIndicator(indicator({ protocol: "fax", pattern }), trace),
    evaluateIndicator(indicator({ protocol: "mcp", pattern }), trace, {
      protocols: new Set(["ag_ui"]),
    }),
    evaluateIndicator(indicator({ expression: { cel: "true" } }), trace, { cel: null }),
    evaluateIndicator(indicator({ semantic: { intent: "x" } }), trace),
  ];
  expect(results.map(({ result }) => result)).toEqual(Array(4).fill("skipped"));
  expect(results[3]?.evidence).toBe("no semantic evaluator");
});

test("of many messages the highest answer counts: matched, error, not matched, in any order", () => {
  const answers = { matched: { a: 1 }, error: {}, not_matched: { a: 0 } } as const;
  const name = fc.constantFrom("matched", "error", "not_matched");
  fc.assert(
    fc.property(
      fc.array(name as fc.Arbitrary<keyof typeof answers>, { minLength: 1, maxLength: 6 }),
      (names) => {
        const trace = names.map((each, seq) => entry(seq, "custom", answers[each]));
        const { result } = evaluateIndicator(
          indicator({ expression: { cel: "message.a == 1" } }),
          trace,
        );
        const expected = (["matched", "error", "not_matched"] as const).find((each) =>
          names.includes(each),
        );
        expect(result).toBe(expected);
      },
    ),
  );
});

test("evidence names the event, the place and how many messages failed, and masks the text", () => {
  const trace = [entry(0, "custom", { b: 1 }), entry(1, "custom", { a: "x", b: 2 })];
  const byCel = evaluateIndicator(indicator({ expression: { cel: "message.a == 'x'" } }), trace);
  expect(byCel.evidence).toBe("event 1 custom (1 messages could not be evaluated)");
  const secret = [entry(7, "raw", { a: "sk-live-x-123456" })];
  const masked = evaluateIndicator(indicator({ pattern }), secret);
  expect(masked.evidence).toBe('event 7 raw, at a, "sk-…" (16 characters)');
  expect(masked.match).toEqual({ seq: 7, event: "raw", path: "a" });
  const shown = evaluateIndicator(indicator({ pattern }), secret, {
    evidence: { reveal: true, maxLength: 7 },
  });
  expect(shown.evidence).toContain('"sk-live…"');
  const failed = evaluateIndicator(indicator({ expression: { cel: "message.c" } }), trace);
  expect(failed.evidence).toMatch(/^cel_error: .* \(2 messages could not be evaluated\)$/);
});

test("a message nested deeper than 64 is an error, never skipped in silence", () => {
  const nested = (depth: number): JsonValue => {
    let value: JsonValue = "x";
    for (let level = 0; level < depth; level += 1) value = { a: value };
    return value;
  };
  const ask = (depth: number) =>
    evaluateIndicator(indicator({ pattern }), [entry(0, "raw", nested(depth))]);
  expect(ask(64).result).toBe("matched");
  expect(ask(65)).toMatchObject({ result: "error", error: { kind: "path_resolution" } });
});

const joined = entry(2, ACCUMULATED_RESPONSE, { messages: [{ content: "split secret" }] });
const deltas = [
  entry(0, "text_message_content", { delta: "split sec" }),
  entry(1, "text_message_content", { delta: "ret" }),
  joined,
];

test("text cut across deltas is found in the joined entry only, and the verdict says so", () => {
  const found = evaluateIndicator(
    indicator({ target: "messages[*].content", pattern: { condition: { contains: "secret" } } }),
    deltas,
  );
  expect(found).toMatchObject({
    result: "matched",
    source: "accumulated",
    diagnostics: ["CS-006"],
  });
});

test.each<[string, Partial<NormalizedIndicator>, boolean]>([
  ["its own surface", { surface: ACCUMULATED_RESPONSE }, true],
  ["no surface and responses", { direction: "response" }, true],
  ["no surface and requests", { direction: "request" }, false],
  ["another surface", { surface: "text_message_content" }, false],
])("the joined entry is seen by an indicator with %s: %s", (_title, filter, seen) => {
  const question = indicator({
    target: "messages",
    pattern: { condition: { exists: true } },
    ...filter,
  });
  expect(evaluateIndicator(question, deltas).result).toBe(seen ? "matched" : "not_matched");
});

test("a CEL error on the joined entry is ignored, on protocol traffic it is reported", () => {
  const question = indicator({ expression: { cel: "message.delta == 'no'" } });
  expect(evaluateIndicator(question, deltas).result).toBe("not_matched");
  expect(evaluateIndicator(question, [...deltas, entry(3, "raw", {})]).result).toBe("error");
});

test("when the time of a document is used up, what is left is an error", () => {
  const verdict = evaluateIndicator(indicator({ pattern }), [entry(0, "raw", hit)], {
    isExpired: () => true,
  });
  expect(verdict.result).toBe("error");
});

test("an attack is judged by all its indicators; one without indicators is refused", () => {
  const head = { oatf: "0.1" };
  const execution = { mode: "ag_ui_client", state: {} };
  const indicators = [
    { target: "a", pattern: { contains: "x" } },
    { target: "b", pattern: { contains: "x" } },
  ];
  const document = normalize({ ...head, attack: { id: "ACME-001", execution, indicators } });
  const verdict = evaluateAttack(document, [entry(0, "raw", hit)], {
    now: () => 0,
    source: "test/1",
  });
  expect(verdict).toMatchObject({
    attack_id: "ACME-001",
    result: "exploited",
    evaluation_summary: { matched: 1, not_matched: 1, error: 0, skipped: 0 },
    timestamp: "1970-01-01T00:00:00.000Z",
    source: "test/1",
  });
  let thrown: unknown;
  try {
    evaluateAttack(normalize({ ...head, attack: { execution } }), []);
  } catch (error) {
    thrown = error;
  }
  expect(isCountersignError(thrown, "ERR_OATF_NO_INDICATORS")).toBe(true);
});

test("a model that answers later is asked once for each text, and its failures are errors", async () => {
  const asked: string[] = [];
  const question = indicator({ semantic: { intent: "leak" } });
  const trace = [
    entry(0, "raw", { a: "calm" }),
    entry(1, "raw", { a: "leak" }),
    entry(2, "raw", { a: "calm" }),
  ];
  const semantic = await prefetchSemanticScores([question], trace, {
    evaluate: async ({ text }) => {
      asked.push(text);
      return text === "leak" ? 1 : 0;
    },
  });
  expect(asked).toEqual(["calm", "leak"]);
  expect(evaluateIndicator(question, trace, { semantic })).toMatchObject({
    result: "matched",
    match: { seq: 1 },
  });
  const failing = await prefetchSemanticScores([question], trace, {
    evaluate: () => Promise.reject(new Error("down")),
  });
  expect(evaluateIndicator(question, trace, { semantic: failing }).result).toBe("error");
});

test("a model is asked no more questions than the limit", async () => {
  const trace = (count: number) =>
    Array.from({ length: count }, (_, seq) => entry(seq, "raw", { a: `t${seq}` }));
  const question = [indicator({ semantic: { intent: "leak" } })];
  const model = { evaluate: async () => 0 };
  await expect(
    prefetchSemanticScores(question, trace(MAX_SEMANTIC_CALLS), model),
  ).resolves.toBeDefined();
  await expect(
    prefetchSemanticScores(question, trace(MAX_SEMANTIC_CALLS + 1), model),
  ).rejects.toMatchObject({ code: "ERR_OATF_LIMIT" });
});
