import { expect, test } from "vitest";
import { changed, VALID, withExecution, withIndicators } from "../testing/sample.js";
import { parse } from "./parse.js";

function errors(text: string): string[] {
  const result = parse(text);
  return result.ok ? [] : result.errors.map(({ kind, path }) => `${kind} ${path ?? ""}`);
}

test("the sample parses into plain data with the names of the format", () => {
  const result = parse(VALID);
  expect(result).toMatchObject({
    ok: true,
    document: { oatf: "0.1", attack: { id: "ACME-001", execution: { mode: "ag_ui_client" } } },
  });
});

test.each([
  ["an empty text", ""],
  ["a comment alone", "# nothing\n"],
  ["two documents", `${VALID}---\n${VALID}`],
  ["a key twice", "oatf: '0.1'\noatf: '0.1'\n"],
  ["a key twice in the state", withExecution("{mode: ag_ui_client, state: {a: 1, a: 2}}")],
  ["an open bracket", "oatf: [\n"],
  ["an older YAML", "%YAML 1.1\n---\noatf: '0.1'\n"],
])("%s is a syntax error with a place", (_title, text) => {
  const result = parse(text);
  expect(result).toMatchObject({ ok: false, errors: [{ kind: "syntax" }] });
  expect(!result.ok && result.errors[0]?.line).toBeGreaterThan(0);
});

test.each([
  ["a list as root", "- 1\n", ""],
  ["a text as root", "hello\n", ""],
  ["an unknown root key", `${VALID}x-mine: 1\n`, "x-mine"],
  ["a number as version of the format", changed('oatf: "0.1"', "oatf: 0.1"), "oatf"],
  [
    "text as confidence",
    changed("severity: high", "severity: {level: low, confidence: fifty}"),
    "attack.severity.confidence",
  ],
  [
    "severity without level",
    changed("severity: high", "severity: {confidence: 1}"),
    "attack.severity.level",
  ],
  ["an unknown field", changed("severity: high", "sevrity: high"), "attack.sevrity"],
  ["null for a text", changed("name: Forged approval", "name:"), "attack.name"],
  ["no impact in the list", changed("severity: high", "impact: []"), "attack.impact"],
  ["x- on a trigger", changed("after: 30s", "x-a: 1"), "attack.execution.phases[0].trigger.x-a"],
  [
    "x- on an extractor",
    changed("source: response,", "source: response, x-a: 1,"),
    "attack.execution.phases[0].extractors[0].x-a",
  ],
  [
    "count below one",
    changed("after: 30s", "count: 0"),
    "attack.execution.phases[0].trigger.count",
  ],
  [
    "a malformed event",
    changed("event: tool_call_start", "event: tool_call_start:x"),
    "attack.execution.phases[0].trigger.event",
  ],
  [
    "an extractor without selector",
    changed(", selector: $.toolCallId", ""),
    "attack.execution.phases[0].extractors[0].selector",
  ],
  [
    "a state that is a list",
    withExecution("{mode: ag_ui_client, state: [1]}"),
    "attack.execution.state",
  ],
  [
    "a when that is text",
    changed("when: {toolCallName: transfer_funds}", "when: always"),
    "attack.execution.phases[0].state.tool_responses[0].when",
  ],
  [
    "an indicator without target",
    withIndicators("[{pattern: {gt: 1}}]"),
    "attack.indicators[0].target",
  ],
  [
    "an empty any_of",
    withIndicators("[{target: a, pattern: {any_of: []}}]"),
    "attack.indicators[0].pattern.any_of",
  ],
  [
    "two short operators",
    withIndicators("[{target: a, pattern: {gt: 1, lt: 2}}]"),
    "attack.indicators[0].pattern",
  ],
  [
    "exists in short form",
    withIndicators("[{target: a, pattern: {exists: true}}]"),
    "attack.indicators[0].pattern.exists",
  ],
  [
    "target in short form",
    withIndicators("[{target: a, pattern: {target: b, gt: 1}}]"),
    "attack.indicators[0].pattern",
  ],
  [
    "short and long form",
    withIndicators("[{target: a, pattern: {condition: 1, gt: 1}}]"),
    "attack.indicators[0].pattern",
  ],
  ["no condition", withIndicators("[{target: a, pattern: {}}]"), "attack.indicators[0].pattern"],
  [
    "a wrong operand",
    withIndicators("[{target: a, pattern: {gt: big}}]"),
    "attack.indicators[0].pattern.gt",
  ],
  [
    "an unknown operator beside a known one",
    withIndicators("[{target: a, pattern: {condition: {gt: 1, near: 2}}}]"),
    "attack.indicators[0].pattern.condition.near",
  ],
  [
    "examples of neither kind",
    withIndicators("[{target: a, semantic: {intent: i, examples: {}}}]"),
    "attack.indicators[0].semantic.examples",
  ],
  [
    "no positive example",
    withIndicators("[{target: a, semantic: {intent: i, examples: {positive: [], negative: [b]}}}]"),
    "attack.indicators[0].semantic.examples.positive",
  ],
  [
    "no negative example",
    withIndicators("[{target: a, semantic: {intent: i, examples: {negative: []}}}]"),
    "attack.indicators[0].semantic.examples.negative",
  ],
  [
    "a mapping to no framework",
    changed("severity: high", 'classification: {mappings: [{framework: "", id: i}]}'),
    "attack.classification.mappings[0].framework",
  ],
  [
    "an infinite number",
    withExecution("{mode: ag_ui_client, state: {a: .inf}}"),
    "attack.execution.state.a",
  ],
])("%s is a type mismatch at its path", (_title, text, path) => {
  expect(errors(text)).toContain(`type_mismatch ${path}`);
});

test("x- fields are allowed on attack, execution, actor, phase, action and indicator", () => {
  const text = `oatf: "0.1"
attack:
  x-a: 1
  execution:
    x-b: 1
    actors: [{name: a, mode: mcp_server, x-c: 1, phases: [{state: {}, x-d: 1, on_enter: [{log: {message: m}, x-e: 1}]}]}]
  indicators: [{target: a, protocol: mcp, x-f: 1, pattern: {gt: 1}}]
`;
  expect(errors(text)).toEqual([]);
});

test("dates, yes and no stay text", () => {
  const result = parse(changed("name: Forged approval", "created: 2026-02-15\n  author: yes"));
  expect(result).toMatchObject({
    ok: true,
    document: { attack: { created: "2026-02-15", author: "yes" } },
  });
});

test("names of the prototype are ordinary keys of content", () => {
  const result = parse(
    withExecution("{mode: ag_ui_client, state: {__proto__: {admin: true}, constructor: 1}}"),
  );
  if (!result.ok) throw new SyntaxError("does not parse");
  expect(JSON.stringify(result.document)).toContain('{"__proto__":{"admin":true},"constructor":1}');
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test("all wrong types are reported at once, with line and column", () => {
  const result = parse(changed("name: Forged approval", "name: 1\n  author: 2"));
  expect(result).toMatchObject({
    ok: false,
    errors: [
      { path: "attack.name", line: 4, column: 9 },
      { path: "attack.author", line: 5, column: 11 },
    ],
  });
});

test("forbidden YAML is reported even when the text fails for another reason", () => {
  const result = parse(changed("name: Forged approval", "name: &a [1]"));
  expect(result).toMatchObject({
    ok: false,
    errors: [{ kind: "type_mismatch", path: "attack.name" }],
    violations: [{ rule: "V-020", path: "attack.name", line: 4 }],
  });
});
