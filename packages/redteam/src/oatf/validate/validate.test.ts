import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "../parse/parse.js";
import { changed, VALID, withExecution, withIndicators } from "../testing/sample.js";
import type { OatfDocument } from "../model/document.js";
import { RULES } from "./rules.js";
import { validate } from "./validate.js";

function findings(text: string): { errors: string[]; warnings: string[] } {
  const parsed = parse(text);
  if (!parsed.ok) throw new SyntaxError(JSON.stringify(parsed.errors));
  const { errors, warnings } = validate(parsed.document);
  return {
    errors: errors.map(({ rule, path }) => `${rule} ${path}`),
    warnings: warnings.map(({ code, path }) => `${code} ${path}`),
  };
}

const EXECUTION = "attack.execution";
const PHASES = `${EXECUTION}.phases`;
const FIRST = "attack.indicators[0]";
const actors = (...list: string[]): string => withExecution(`{actors: [${list.join(", ")}]}`);
const actor = (name: string, mode = "mcp_server", phases = "[{state: {}}]"): string =>
  `{name: ${name}, mode: ${mode}, phases: ${phases}}`;
const phases = (list: string, mode = "mode: ag_ui_client, "): string =>
  withExecution(`{${mode}phases: ${list}}`);
const pattern = (body: string): string => withIndicators(`[{target: a, pattern: ${body}}]`);
const state = (body: string): string => withExecution(`{mode: ag_ui_client, state: ${body}}`);

/** For each rule: what breaks it, the path it names, and a neighbour that does not break it. */
const CASES: readonly [rule: string, breaking: string, path: string, fine: string][] = [
  ["V-001", changed('oatf: "0.1"', 'oatf: "0.2"'), "oatf", VALID],
  ["V-001", changed('oatf: "0.1"\n', ""), "oatf", VALID],
  ["V-003", 'oatf: "0.1"\n', "attack", VALID],
  ["V-003", 'oatf: "0.1"\nattack: [1]\n', "attack", VALID],
  ["V-004", 'oatf: "0.1"\nattack: {name: x}\n', EXECUTION, state("{}")],
  ["V-005", changed("severity: high", "severity: huge"), "attack.severity", VALID],
  [
    "V-005",
    changed("severity: high", "severity: {level: huge}"),
    "attack.severity.level",
    changed("severity: high", "severity: {level: low}"),
  ],
  [
    "V-005",
    changed("severity: high", "status: done"),
    "attack.status",
    changed("severity: high", "status: stable"),
  ],
  [
    "V-005",
    changed("severity: high", "impact: [boredom]"),
    "attack.impact[0]",
    changed("severity: high", "impact: [data_tampering]"),
  ],
  [
    "V-005",
    changed("severity: high", "classification: {category: odd}"),
    "attack.classification.category",
    changed("severity: high", "classification: {category: oversight_bypass}"),
  ],
  [
    "V-005",
    changed(
      "severity: high",
      "classification: {mappings: [{framework: f, id: i, relationship: x}]}",
    ),
    "attack.classification.mappings[0].relationship",
    changed("severity: high", "classification: {mappings: [{framework: f, id: i}]}"),
  ],
  [
    "V-005",
    changed("source: response", "source: both"),
    `${PHASES}[0].extractors[0].source`,
    VALID,
  ],
  ["V-005", changed("type: json_path", "type: xpath"), `${PHASES}[0].extractors[0].type`, VALID],
  ["V-005", changed("level: info", "level: loud"), `${PHASES}[1].on_enter[0].log.level`, VALID],
  ["V-005", changed("logic: any", "logic: most"), "attack.correlation.logic", VALID],
  [
    "V-005",
    withIndicators("[{target: a, direction: up, pattern: {gt: 1}}]"),
    `${FIRST}.direction`,
    withIndicators("[{target: a, direction: request, pattern: {gt: 1}}]"),
  ],
  [
    "V-005",
    withIndicators("[{target: a, severity: x, pattern: {gt: 1}}]"),
    `${FIRST}.severity`,
    withIndicators("[{target: a, severity: low, pattern: {gt: 1}}]"),
  ],
  [
    "V-005",
    withIndicators("[{target: a, tier: total, pattern: {gt: 1}}]"),
    `${FIRST}.tier`,
    withIndicators("[{target: a, tier: boundary_breach, pattern: {gt: 1}}]"),
  ],
  [
    "V-005",
    withIndicators("[{target: a, semantic: {intent: i, intent_class: odd}}]"),
    `${FIRST}.semantic.intent_class`,
    withIndicators("[{target: a, semantic: {intent: i, intent_class: prompt_injection}}]"),
  ],
  [
    "V-005",
    withExecution("{mode: mcp_client, state: {elicitation_responses: [{action: maybe}]}}"),
    `${EXECUTION}.state.elicitation_responses[0].action`,
    withExecution("{mode: mcp_client, state: {elicitation_responses: [{action: accept}]}}"),
  ],
  [
    "V-005",
    withExecution("{mode: mcp_server, state: {elicitations: [{mode: fax}]}}"),
    `${EXECUTION}.state.elicitations[0].mode`,
    withExecution("{mode: mcp_server, state: {elicitations: [{mode: form}]}}"),
  ],
  ["V-006", withIndicators("[]"), "attack.indicators", pattern("{gt: 1}")],
  ["V-007", phases("[]"), PHASES, phases("[{state: {}}]")],
  [
    "V-007",
    actors(actor("a", "mcp_server", "[]")),
    `${EXECUTION}.actors[0].phases`,
    actors(actor("a")),
  ],
  [
    "V-008",
    phases("[{state: {}}, {trigger: {after: 1s}}]"),
    `${PHASES}[0]`,
    phases("[{state: {}, trigger: {after: 1s}}, {name: x}]"),
  ],
  ["V-008", phases("[{state: {}}, {name: x}]"), PHASES, phases("[{state: {}}]")],
  [
    "V-009",
    phases("[{trigger: {after: 1s}}, {state: {}}]"),
    `${PHASES}[0]`,
    phases("[{state: {}, trigger: {after: 1s}}, {name: x}]"),
  ],
  [
    "V-010",
    withIndicators("[{id: i, target: a, pattern: {gt: 1}}, {id: i, target: a, pattern: {gt: 1}}]"),
    "attack.indicators[1].id",
    withIndicators("[{id: i, target: a, pattern: {gt: 1}}, {id: j, target: a, pattern: {gt: 1}}]"),
  ],
  ["V-011", changed("name: press", "name: ask"), `${PHASES}[1].name`, VALID],
  ["V-012", withIndicators("[{target: a}]"), FIRST, pattern("{gt: 1}")],
  [
    "V-012",
    withIndicators("[{target: a, pattern: {gt: 1}, semantic: {intent: i}}]"),
    FIRST,
    pattern("{gt: 1}"),
  ],
  ["V-013", pattern("{regex: '(?=x)'}"), `${FIRST}.pattern.regex`, pattern("{regex: '(?i)x'}")],
  [
    "V-013",
    pattern("{condition: {regex: '(x)\\1'}}"),
    `${FIRST}.pattern.condition.regex`,
    pattern("{condition: {regex: 'x+'}}"),
  ],
  [
    "V-013",
    changed("match: {toolCallName: transfer_funds}", "match: {toolCallName: {regex: '('}}"),
    `${PHASES}[0].trigger.match.toolCallName.regex`,
    changed("match: {toolCallName: transfer_funds}", "match: {toolCallName: {regex: '^t'}}"),
  ],
  [
    "V-013",
    changed("when: {toolCallName: transfer_funds}", "when: {toolCallName: {regex: '['}}"),
    `${PHASES}[0].state.tool_responses[0].when.toolCallName.regex`,
    VALID,
  ],
  [
    "V-013",
    changed("type: json_path, selector: $.toolCallId", "type: regex, selector: '(a'"),
    `${PHASES}[0].extractors[0].selector`,
    changed("type: json_path, selector: $.toolCallId", "type: regex, selector: '(a)'"),
  ],
  [
    "V-013",
    withIndicators(
      "[{target: a, surface: custom, expression: {cel: 'message.a.matches(\"(?=x)\")'}}]",
    ),
    `${FIRST}.expression.cel`,
    withIndicators("[{target: a, surface: custom, expression: {cel: 'message.a.matches(\"x\")'}}]"),
  ],
  [
    "V-014",
    changed("cel: has(message.snapshot) &&", "cel: has(message.snapshot) & &"),
    "attack.indicators[1].expression.cel",
    VALID,
  ],
  [
    "V-015",
    changed("selector: $.toolCallId", "selector: toolCallId"),
    `${PHASES}[0].extractors[0].selector`,
    VALID,
  ],
  [
    "V-016",
    changed('content: "hello"', 'content: "hello {{name"'),
    `${PHASES}[0].state.run_agent_input.messages[0].content`,
    changed('content: "hello"', "content: 'hello \\{{name'"),
  ],
  [
    "V-016",
    changed("saw {{call_id}}", "saw {{call_id"),
    `${PHASES}[1].on_enter[0].log.message`,
    VALID,
  ],
  [
    "V-017",
    changed("severity: high", "severity: {level: low, confidence: 101}"),
    "attack.severity.confidence",
    changed("severity: high", "severity: {level: low, confidence: 100}"),
  ],
  [
    "V-019",
    phases("[{state: {}, trigger: {count: 2, after: 1s}}]"),
    `${PHASES}[0].trigger`,
    phases("[{state: {}, trigger: {count: 2, event: custom}}]"),
  ],
  [
    "V-019",
    phases("[{state: {}, trigger: {match: {a: 1}, after: 1s}}]"),
    `${PHASES}[0].trigger`,
    phases("[{state: {}, trigger: {match: {a: 1}, event: custom}}]"),
  ],
  ["V-020", changed("name: Forged approval", "name: &n Forged approval"), "attack.name", VALID],
  ["V-020", changed("name: Forged approval", "name: !secret x"), "attack.name", VALID],
  [
    "V-020",
    changed("threadId: t1", "<<: {a: 1}"),
    `${PHASES}[0].state.run_agent_input.<<`,
    changed("threadId: t1", '"<<": {a: 1}'),
  ],
  [
    "V-021",
    withIndicators("[{target: 'a[0]', pattern: {gt: 1}}]"),
    `${FIRST}.target`,
    withIndicators("[{target: '', pattern: {gt: 1}}]"),
  ],
  [
    "V-021",
    withIndicators("[{target: a..b, pattern: {gt: 1}}]"),
    `${FIRST}.target`,
    withIndicators("[{target: 'a[*].b', pattern: {gt: 1}}]"),
  ],
  [
    "V-021",
    pattern("{target: 'a[*.b', condition: 1}"),
    `${FIRST}.pattern.target`,
    pattern("{target: a.b, condition: 1}"),
  ],
  [
    "V-021",
    withIndicators("[{target: a, semantic: {target: 'a b', intent: i}}]"),
    `${FIRST}.semantic.target`,
    withIndicators("[{target: a, semantic: {target: a, intent: i}}]"),
  ],
  [
    "V-022",
    withIndicators("[{target: a, semantic: {intent: i, threshold: 1.1}}]"),
    `${FIRST}.semantic.threshold`,
    withIndicators("[{target: a, semantic: {intent: i, threshold: 1}}]"),
  ],
  ["V-023", changed("id: ACME-001", "id: acme-1"), "attack.id", VALID],
  [
    "V-024",
    withIndicators("[{id: ACME-002-01, target: a, pattern: {gt: 1}}]", "  id: ACME-001\n"),
    `${FIRST}.id`,
    withIndicators("[{id: ACME-001-01, target: a, pattern: {gt: 1}}]", "  id: ACME-001\n"),
  ],
  [
    "V-025",
    withIndicators("[{target: a, confidence: -1, pattern: {gt: 1}}]"),
    `${FIRST}.confidence`,
    withIndicators("[{target: a, confidence: 0, pattern: {gt: 1}}]"),
  ],
  [
    "V-026",
    changed("admin: snapshot.admin", "admin: 'snapshot[*]'"),
    "attack.indicators[1].expression.variables.admin",
    VALID,
  ],
  [
    "V-027",
    changed("match: {toolCallName: transfer_funds}", "match: {'a[*]': 1}"),
    `${PHASES}[0].trigger.match.a[*]`,
    VALID,
  ],
  [
    "V-027",
    changed("when: {toolCallName: transfer_funds}", "when: {'a b': 1}"),
    `${PHASES}[0].state.tool_responses[0].when.a b`,
    VALID,
  ],
  [
    "V-028",
    phases("[{state: {}}]", ""),
    `${PHASES}[0].mode`,
    phases("[{state: {}, mode: ag_ui_client}]", ""),
  ],
  [
    "V-028",
    phases("[{state: {}, mode: ag_ui_client, trigger: {after: 1s}}, {mode: mcp_client}]", ""),
    PHASES,
    phases("[{state: {}, mode: ag_ui_client, trigger: {after: 1s}}, {mode: ag_ui_client}]", ""),
  ],
  [
    "V-028",
    `${actors(actor("a"))}  indicators: [{target: a, pattern: {gt: 1}}]\n`,
    `${FIRST}.protocol`,
    `${actors(actor("a"))}  indicators: [{target: a, protocol: mcp, pattern: {gt: 1}}]\n`,
  ],
  ["V-030", withExecution("{mode: ag_ui_client}"), EXECUTION, state("{}")],
  [
    "V-030",
    withExecution("{mode: ag_ui_client, state: {}, phases: [{state: {}}]}"),
    EXECUTION,
    state("{}"),
  ],
  ["V-030", withExecution("{state: {}}"), `${EXECUTION}.mode`, state("{}")],
  [
    "V-031",
    actors(actor("a"), actor("a")),
    `${EXECUTION}.actors[1].name`,
    actors(actor("a"), actor("b")),
  ],
  ["V-031", actors(actor("Bad-Name")), `${EXECUTION}.actors[0].name`, actors(actor("good_name"))],
  [
    "V-031",
    actors("{name: a, phases: [{state: {}}]}"),
    `${EXECUTION}.actors[0].mode`,
    actors(actor("a")),
  ],
  [
    "V-031",
    actors("{name: a, mode: mcp_server}"),
    `${EXECUTION}.actors[0].phases`,
    actors(actor("a")),
  ],
  [
    "V-032",
    changed("saw {{call_id}}", "saw {{ghost.call_id}}"),
    `${PHASES}[1].on_enter[0].log.message`,
    changed("saw {{call_id}}", "saw {{default.call_id}}"),
  ],
  [
    "V-033",
    state("{tool_responses: [{content: 1}, {content: 2}]}"),
    `${EXECUTION}.state.tool_responses`,
    state("{tool_responses: [{content: 1}, {when: {}, content: 2}]}"),
  ],
  [
    "V-033",
    withExecution("{mode: mcp_server, state: {tools: [{responses: [{}, {}]}]}}"),
    `${EXECUTION}.state.tools[0].responses`,
    withExecution("{mode: mcp_server, state: {deep: {responses: [{}, {}]}}}"),
  ],
  ["V-034", withExecution("{mode: AG-UI, state: {}}"), `${EXECUTION}.mode`, state("{}")],
  [
    "V-034",
    withIndicators("[{target: a, protocol: AG-UI, pattern: {gt: 1}}]"),
    `${FIRST}.protocol`,
    withIndicators("[{target: a, protocol: ag_ui, pattern: {gt: 1}}]"),
  ],
  [
    "V-035",
    changed("severity: high", "version: 0"),
    "attack.version",
    changed("severity: high", "version: 2"),
  ],
  ["V-035", changed("severity: high", "version: 1.5"), "attack.version", VALID],
  ["V-036", changed("after: 30s", "after: 1.5s"), `${PHASES}[0].trigger.after`, VALID],
  ["V-037", changed("name: call_id", "name: Call-Id"), `${PHASES}[0].extractors[0].name`, VALID],
  ["V-038", phases("[{state: {}, extractors: []}]"), `${PHASES}[0].extractors`, VALID],
  [
    "V-039",
    changed("variables: {admin: snapshot.admin}", "variables: {a-b: snapshot}"),
    "attack.indicators[1].expression.variables.a-b",
    VALID,
  ],
  ["V-040", phases("[{state: {}, trigger: {}}]"), `${PHASES}[0].trigger`, VALID],
  [
    "V-041",
    phases("[{state: {}, on_enter: [{a: 1, b: 2}]}]"),
    `${PHASES}[0].on_enter[0]`,
    phases("[{state: {}, on_enter: [{a: 1, x-b: 2}]}]"),
  ],
  ["V-041", phases("[{state: {}, on_enter: [{x-b: 2}]}]"), `${PHASES}[0].on_enter[0]`, VALID],
  [
    "V-042",
    changed("type: json_path, selector: $.toolCallId", "type: regex, selector: 'a'"),
    `${PHASES}[0].extractors[0].selector`,
    changed("type: json_path, selector: $.toolCallId", "type: regex, selector: '(a)'"),
  ],
  ["V-043", phases("[{state: {}, on_enter: []}]"), `${PHASES}[0].on_enter`, VALID],
  [
    "V-044",
    actors(actor("a", "mcp_server", "[{state: {}, mode: mcp_client}]")),
    `${EXECUTION}.actors[0].phases[0].mode`,
    actors(actor("a", "mcp_server", "[{state: {}, mode: mcp_server}]")),
  ],
  [
    "V-045",
    changed("severity: high", "impact: [data_tampering, data_tampering]"),
    "attack.impact",
    changed("severity: high", "impact: [data_tampering, credential_theft]"),
  ],
  [
    "V-046",
    changed("severity: high", "grace_period: soon"),
    "attack.grace_period",
    changed("severity: high", "grace_period: PT5M"),
  ],
  ["V-047", `${state("{}")}  correlation: {logic: any}\n`, "attack.correlation", VALID],
  [
    "V-048",
    withIndicators("[{target: a, actor: ghost, pattern: {gt: 1}}]"),
    `${FIRST}.actor`,
    withIndicators("[{target: a, actor: default, pattern: {gt: 1}}]"),
  ],
  [
    "V-049",
    withIndicators("[{target: a, method: semantic, pattern: {gt: 1}}]"),
    `${FIRST}.method`,
    withIndicators("[{target: a, method: pattern, pattern: {gt: 1}}]"),
  ],
];

test.each(CASES)(
  "%s: a document that breaks it is reported at the right path",
  (rule, text, path) => {
    expect(findings(text).errors).toContain(`${rule} ${path}`);
  },
);

test.each(CASES)("%s: a neighbour that keeps it is not reported", (rule, _text, _path, fine) => {
  expect(findings(fine).errors.filter((found) => found.startsWith(rule))).toEqual([]);
});

test("every rule has a document that breaks it", () => {
  const covered = new Set(CASES.map(([rule]) => rule));
  expect(Object.keys(RULES).filter((rule) => !covered.has(rule))).toEqual([]);
});

/** For each warning: what raises it, the path, and a neighbour that does not. */
const WARNINGS: readonly [code: string, raising: string, path: string, fine: string][] = [
  ["W-001", 'attack: {execution: {mode: ag_ui_client, state: {}}}\noatf: "0.1"\n', "oatf", VALID],
  ["W-002", withExecution("{mode: fax_client, state: {}}"), `${EXECUTION}.mode`, VALID],
  [
    "W-003",
    withIndicators("[{target: a, protocol: fax, pattern: {gt: 1}}]"),
    `${FIRST}.protocol`,
    VALID,
  ],
  ["W-004", changed("{{call_id}}", "{{other}}"), `${PHASES}[1].on_enter[0].log.message`, VALID],
  [
    "W-004",
    changed("{{call_id}}", "{{default.other}}"),
    `${PHASES}[1].on_enter[0].log.message`,
    changed("{{call_id}}", "{{request.other}}"),
  ],
  [
    "W-005",
    withIndicators("[{target: a, protocol: mcp, pattern: {gt: 1}}]"),
    `${FIRST}.protocol`,
    VALID,
  ],
  [
    "W-006",
    state("{run_agent_input: {synthesize: {prompt: x}}}"),
    `${EXECUTION}.state.run_agent_input.synthesize`,
    VALID,
  ],
  [
    "W-006",
    state("{tool_responses: [{synthesize: {prompt: x}}]}"),
    `${EXECUTION}.state.tool_responses[0].synthesize`,
    VALID,
  ],
  ["W-007", withIndicators("[{target: a, semantic: {intent: i}}]"), `${FIRST}.semantic`, VALID],
  [
    "V-018",
    withIndicators("[{target: a, surface: nowhere, pattern: {gt: 1}}]"),
    `${FIRST}.surface`,
    VALID,
  ],
  [
    "V-029",
    changed("event: tool_call_start", "event: teapot"),
    `${PHASES}[0].trigger.event`,
    VALID,
  ],
  [
    "V-029",
    withExecution(
      "{mode: mcp_server, phases: [{state: {}, trigger: {event: notifications/elicitation/complete}}]}",
    ),
    `${PHASES}[0].trigger.event`,
    withExecution(
      "{mode: mcp_client, phases: [{state: {}, trigger: {event: notifications/elicitation/complete}}]}",
    ),
  ],
  [
    "CS-001",
    withIndicators("[{target: a, tier: ingested, pattern: {gt: 1}}]"),
    `${FIRST}.tier`,
    VALID,
  ],
  [
    "CS-003",
    withIndicators("[{target: a, expression: {cel: message.a == 1}}]"),
    `${FIRST}.expression.cel`,
    VALID,
  ],
  [
    "CS-004",
    withIndicators("[{target: a, surface: agent_state, pattern: {gt: 1}}]"),
    `${FIRST}.surface`,
    VALID,
  ],
  [
    "CS-008",
    withIndicators(
      "[{target: a, pattern: {gt: 1}}, {id: indicator-01, target: a, pattern: {gt: 1}}]",
    ),
    FIRST,
    VALID,
  ],
  [
    "CS-009",
    withIndicators("[{target: a, expression: {cel: mesage.a == 1}}]"),
    `${FIRST}.expression.cel`,
    VALID,
  ],
];

test.each(WARNINGS)("%s is raised where it belongs", (code, raising, path) => {
  expect(findings(raising).warnings).toContain(`${code} ${path}`);
});

test.each(WARNINGS)("%s is not raised by a neighbour", (code, _raising, _path, fine) => {
  expect(findings(fine).warnings.filter((found) => found.startsWith(code))).toEqual([]);
});

test("the sample is valid without a warning", () => {
  expect(findings(VALID)).toEqual({ errors: [], warnings: [] });
});

test("an unknown mode switches the event check off, and warnings leave a document valid", () => {
  const text = withExecution("{mode: fax_client, phases: [{state: {}, trigger: {event: teapot}}]}");
  expect(findings(text)).toEqual({ errors: [], warnings: [`W-002 ${EXECUTION}.mode`] });
});

test("findings come in the order of the text, each with line and column", () => {
  const text = changed("id: ACME-001", "id: x")
    .replace("after: 30s", "after: x")
    .replace("logic: any", "logic: x");
  const parsed = parse(text);
  if (!parsed.ok) throw new SyntaxError("the sample does not parse");
  const { errors } = validate(parsed.document);
  expect(errors.map(({ rule }) => rule)).toEqual(["V-023", "V-036", "V-005"]);
  expect(errors[0]).toMatchObject({ line: 3, column: 7, spec_ref: "4.2", path: "attack.id" });
});

test("content of the protocol is not judged, however odd it is", () => {
  const text = state(
    "{run_agent_input: {threadId: 7, messages: {role: nobody}, responses: [{}, {}], tools: [{responses: [{}, {}]}], 'a b': [[1]]}}",
  );
  expect(findings(text).errors).toEqual([]);
});

test("validate never throws, whatever tree it is given", () => {
  const key = fc.constantFrom(
    ...[
      "oatf",
      "attack",
      "execution",
      "mode",
      "state",
      "phases",
      "actors",
      "indicators",
      "pattern",
    ],
    ...[
      "expression",
      "cel",
      "trigger",
      "match",
      "extractors",
      "on_enter",
      "tool_responses",
      "when",
    ],
    ...["severity", "impact", "classification", "mappings", "id", "target", "__proto__"],
  );
  const tree = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(null, true, 1, "0.1", "ag_ui_client", "{{", "{{a.b}}", "("),
      fc.array(tie("node"), { maxLength: 3 }),
      fc.dictionary(key, tie("node"), { maxKeys: 6, noNullPrototype: true }),
    ),
  })).node;
  fc.assert(
    fc.property(tree, (document) => {
      expect(validate(document as OatfDocument)).toHaveProperty("errors");
    }),
    { numRuns: 300 },
  );
});
