import type { JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import type { OatfDocument } from "../model/document.js";
import { resolvedMode } from "../model/modes.js";
import { parse } from "../parse/parse.js";
import { VALID, withExecution, withIndicators } from "../testing/sample.js";
import { normalize } from "./normalize.js";

function documentOf(text: string): OatfDocument {
  const result = parse(text);
  if (!result.ok) throw new SyntaxError(JSON.stringify(result.errors));
  return result.document;
}
const normal = (text: string) => normalize(documentOf(text)).attack;
const state = withExecution("{mode: ag_ui_client, state: {run_agent_input: {a: 1}}}");

test("N-001: defaults are written out, and only where their owner is", () => {
  expect(normal(state)).toEqual({
    name: "Untitled",
    version: 1,
    status: "draft",
    execution: {
      actors: [
        {
          name: "default",
          mode: "ag_ui_client",
          phases: [{ name: "phase-1", state: { run_agent_input: { a: 1 } } }],
        },
      ],
    },
  });
  const full = normal(VALID);
  expect(full.correlation).toEqual({ logic: "any" });
  expect(full.execution.actors[0]?.phases[0]?.trigger?.count).toBe(1);
  expect(full.indicators?.map(({ protocol }) => protocol)).toEqual(["ag_ui", "ag_ui"]);
});

test("N-001: a trigger without event gets no count; names count within the actor", () => {
  const phases = "phases: [{state: {}, trigger: {after: 1s}}, {name: last}]";
  const { actors } = normal(
    withExecution(
      `{actors: [{name: a, mode: mcp_server, ${phases}}, {name: b, mode: mcp_client, phases: [{state: {}}]}]}`,
    ),
  ).execution;
  expect(actors[0]?.phases.map(({ name }) => name)).toEqual(["phase-1", "last"]);
  expect(actors[0]?.phases[0]?.trigger).toEqual({ after: "1s" });
  expect(actors[1]?.phases[0]?.name).toBe("phase-1");
});

test("N-001: a mapping is primary unless it says otherwise", () => {
  const attack =
    "  classification: {mappings: [{framework: f, id: i}, {framework: f, id: j, relationship: related}]}\n";
  const { classification } = normal(withIndicators("[{target: a, pattern: {gt: 1}}]", attack));
  expect(classification?.mappings?.map((each) => each.relationship)).toEqual([
    "primary",
    "related",
  ]);
});

test("N-001: an inherited mode is not written into the phase, an explicit one is kept", () => {
  const { actors } = normal(
    withExecution(
      "{mode: ag_ui_client, phases: [{state: {}, trigger: {after: 1s}}, {mode: ag_ui_client}]}",
    ),
  ).execution;
  expect(actors[0]?.phases.map((phase) => phase.mode)).toEqual([undefined, "ag_ui_client"]);
  expect(resolvedMode(actors[0]!, actors[0]!.phases[0]!)).toBe("ag_ui_client");
});

test.each<[string, JsonValue | undefined]>([
  ["severity: high", { level: "high", confidence: 50 }],
  ["severity: {level: low}", { level: "low", confidence: 50 }],
  ["severity: {level: low, confidence: 0}", { level: "low", confidence: 0 }],
  ["author: x", undefined],
])("N-002: %s becomes %j", (field, expected) => {
  expect(normal(VALID.replace("severity: high", field)).severity).toEqual(expected);
});

test("N-003: missing ids count positions in the whole list", () => {
  const list =
    "[{target: a, pattern: {gt: 1}}, {id: ACME-001-09, target: a, pattern: {gt: 1}}, {target: a, pattern: {gt: 1}}]";
  const ids = (text: string) => normal(text).indicators?.map(({ id }) => id);
  expect(ids(withIndicators(list, "  id: ACME-001\n"))).toEqual([
    "ACME-001-01",
    "ACME-001-09",
    "ACME-001-03",
  ]);
  expect(ids(withIndicators("[{target: a, pattern: {gt: 1}}]"))).toEqual(["indicator-01"]);
});

test("N-004: the indicator's target reaches pattern and semantic, an explicit one wins", () => {
  const list =
    "[{target: a, pattern: {condition: 1}}, {target: a, pattern: {target: b, condition: 1}}, {target: a, semantic: {intent: i}}]";
  const { indicators } = normal(withIndicators(list));
  expect(indicators?.map((each) => each.pattern?.target ?? each.semantic?.target)).toEqual([
    "a",
    "b",
    "a",
  ]);
  expect(indicators?.[2]?.semantic).not.toHaveProperty("threshold");
});

test("N-005: short patterns become conditions, bare values stay bare", () => {
  const list =
    "[{target: a, pattern: {regex: x}}, {target: a, pattern: {condition: 7}}, {target: a, pattern: {condition: null}}]";
  const { indicators } = normal(withIndicators(list));
  expect(indicators?.map((each) => each.pattern)).toEqual([
    { target: "a", condition: { regex: "x" } },
    { target: "a", condition: 7 },
    { target: "a", condition: null },
  ]);
});

test("N-006 and N-007: short forms become one actor called default, extensions stay above", () => {
  const single = normal(withExecution("{mode: mcp_server, state: {a: 1}, x-a: 1}")).execution;
  expect(single).toEqual({
    "x-a": 1,
    actors: [
      { name: "default", mode: "mcp_server", phases: [{ name: "phase-1", state: { a: 1 } }] },
    ],
  });
  const phased = normal(withExecution("{phases: [{mode: a2a_client, state: {}}]}")).execution;
  expect(phased).toMatchObject({ actors: [{ name: "default", mode: "a2a_client" }] });
  expect(Object.keys(phased)).toEqual(["actors"]);
});

test("N-008: tags are lower case with dashes", () => {
  const attack = "  classification: {tags: [Prompt_Injection, two words, done]}\n";
  const { classification } = normal(withIndicators("[{target: a, pattern: {gt: 1}}]", attack));
  expect(classification?.tags).toEqual(["prompt-injection", "two-words", "done"]);
});

test("normalising changes nothing in the given document", () => {
  const document = documentOf(VALID);
  const before = JSON.stringify(document);
  const result = normalize(document);
  Object.assign(result.attack.execution.actors[0]!.phases[0]!.state!, { changed: true });
  expect(JSON.stringify(document)).toBe(before);
});
