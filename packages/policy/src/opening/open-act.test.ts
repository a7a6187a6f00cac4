import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compilePolicy } from "../compile/compile.js";
import { POLICY_RULES } from "../compile/rule-meanings.js";
import { loadPolicy } from "../document/load.js";
import type { PolicyDocument } from "../document/model.js";
import { foldName } from "../patterns/look-alike.js";
import { sampleText } from "../testing/sample-text.js";
import { readYaml } from "../document/read-yaml.js";
import { DEFAULT_POLICY_LIMITS } from "../document/limits.js";
import { addLines, writeLines } from "./lines.js";
import { actsNamed } from "./named-act.js";
import type { Act } from "./named-act.js";
import { openAct } from "./open-act.js";

const STARTER = loadPolicy(sampleText("starter.yaml").replace("mode: observe", "mode: enforce"));
const POLICIES: readonly PolicyDocument[] = [
  STARTER.document,
  ...["strict", "default"].map(
    (name) => loadPolicy(`hushspec: "0.1.0"\nextends: builtin:${name}\n`).document,
  ),
  loadPolicy("ag_ui: {}\n").document,
  loadPolicy("ag_ui: { allow_display_without_capability: true }\nag_ui_components: {}\n").document,
  loadPolicy("ag_ui_tools: { call: { default: block }, declare: { default: block } }\n").document,
];

const read = (text: string): JsonObject =>
  readYaml(text, "lines.yaml", DEFAULT_POLICY_LIMITS).value as JsonObject;

/** The policy with printed lines added, written and loaded again like a file. */
function withLines(document: PolicyDocument, lines: string): PolicyDocument {
  return loadPolicy(writeLines(addLines(document, read(lines)) as unknown as JsonObject)).document;
}

const name = fc.oneof(
  fc.stringMatching(/^[A-Za-z][\w.:-]{0,12}$/),
  fc.constantFrom(
    "delete_user",
    "navigate_home",
    "eval_js",
    "raw",
    "refund",
    "löschen",
    "run_shell",
  ),
);
const kind = fc.constantFrom(
  "tool",
  "custom",
  "raw",
  "activity",
  "interrupt",
  "component",
  "forwardedProps",
);
const path = fc
  .array(fc.stringMatching(/^[a-z~/0]{1,4}$/), { minLength: 1, maxLength: 3 })
  .map((parts) =>
    parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
  );
const anyName = fc.oneof(
  fc.tuple(kind, name).map(([one, text]) => `${one}:${text}`),
  path.map((pointer) => `state:${pointer}`),
  fc.constantFrom("input:resume", "input:tool_result", "input:context", "raw"),
);

test("the lines for any named act let it through, or words say why none do", () => {
  let opened = 0;
  fc.assert(
    fc.property(fc.constantFrom(...POLICIES), anyName, (document, text) => {
      const acts = actsNamed(text);
      expect(acts.length).toBeGreaterThan(0);
      for (const act of acts) {
        const { denial, opening } = openAct(document, act);
        expect(opening === undefined).toBe(denial === undefined);
        const lines = opening !== undefined && "policy" in opening ? opening.policy : undefined;
        if (lines !== undefined) opened += 1;
        const after = lines === undefined ? undefined : openAct(withLines(document, lines), act);
        expect(after?.denial).toBeUndefined();
        const words =
          opening !== undefined && "closed" in opening ? opening.closed : "it passes or has lines";
        expect(words).toMatch(/.{20}/);
      }
    }),
    { numRuns: 120 },
  );
  expect(opened).toBeGreaterThan(30);
});

test("the lines for one name open no other name", () => {
  fc.assert(
    fc.property(fc.constantFrom(...POLICIES), kind, name, name, (document, one, left, right) => {
      const alike = (text: string): string => foldName(text).replaceAll(/[_.:-]/gu, "");
      fc.pre(alike(left) !== alike(right) && !["raw", left].includes(right) && left !== "raw");
      const pairs = actsNamed(`${one}:${left}`).map((act, index): [Act, Act] => [
        act,
        actsNamed(`${one}:${right}`)[index] as Act,
      ]);
      for (const [act, other] of pairs) {
        const { opening } = openAct(document, act);
        if (opening === undefined || !("policy" in opening)) continue;
        const lines = read(opening.policy);
        // These two blocks are about every event: without them nothing passes.
        const wide = ["ag_ui", "ag_ui_inbound"].some((block) => block in lines);
        // Every render hint has one name; its component distinguishes them.
        if (wide || act.value["name"] === "countersign.ui_render_hint") continue;
        const isBlocked = (policy: PolicyDocument) => openAct(policy, other).denial !== undefined;
        const after = isBlocked(withLines(document, opening.policy));
        expect([other.about, after]).toEqual([other.about, isBlocked(document)]);
      }
    }),
    { numRuns: 120 },
  );
});

test("a name with a wildcard is never written into a policy", () => {
  for (const text of ["tool:*", "custom:a?", "state:/a/**", "activity:*", "component:x*"]) {
    for (const act of actsNamed(text)) {
      const { opening = { closed: "it passes" } } = openAct(STARTER.document, act);
      expect([text, opening]).toEqual([text, { closed: expect.any(String) }]);
    }
  }
});

test("what the policy blocks by name, or asks an exact scope for, is closed in words that name the entry", () => {
  const closed = (text: string) => openAct(STARTER.document, actsNamed(text)[0] as Act).opening;
  expect(closed("tool:eval_js")).toEqual({
    closed: expect.stringContaining("ag_ui_tools.call"),
  });
  expect(closed("interrupt:refund")).toEqual({
    closed: expect.stringContaining("ag_ui.capability_scopes"),
  });
});

test("the lines of every rule compile beside the starter policy", () => {
  for (const { opening } of Object.values(POLICY_RULES)) {
    if (!("policy" in opening)) continue;
    const document = withLines(STARTER.document, opening.policy);
    expect(compilePolicy(document).rules).toContain("ag_ui.capability");
  }
});
