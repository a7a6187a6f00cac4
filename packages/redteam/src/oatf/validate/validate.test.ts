import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "../parse/parse.js";
import { RULE_CASES } from "../testing/rule-cases.js";
import { changed, EXECUTION, state, VALID, withExecution } from "../testing/sample.js";
import { WARNING_CASES } from "../testing/warning-cases.js";
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

test.each(RULE_CASES)(
  "%s: a document that breaks it is reported at the right path",
  (rule, text, path) => {
    expect(findings(text).errors).toContain(`${rule} ${path}`);
  },
);

test.each(RULE_CASES)(
  "%s: a neighbour that keeps it is not reported",
  (rule, _text, _path, fine) => {
    expect(findings(fine).errors.filter((found) => found.startsWith(rule))).toEqual([]);
  },
);

test("every rule has a document that breaks it", () => {
  const covered = new Set(RULE_CASES.map(([rule]) => rule));
  expect(Object.keys(RULES).filter((rule) => !covered.has(rule))).toEqual([]);
});

test.each(WARNING_CASES)("%s is raised where it belongs", (code, raising, path) => {
  expect(findings(raising).warnings).toContain(`${code} ${path}`);
});

test.each(WARNING_CASES)("%s is not raised by a neighbour", (code, _raising, _path, fine) => {
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
    "oatf",
    "attack",
    "execution",
    "mode",
    "state",
    "phases",
    "actors",
    "indicators",
    "pattern",
    "expression",
    "cel",
    "trigger",
    "match",
    "extractors",
    "on_enter",
    "tool_responses",
    "when",
    "severity",
    "impact",
    "classification",
    "mappings",
    "id",
    "target",
    "__proto__",
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
