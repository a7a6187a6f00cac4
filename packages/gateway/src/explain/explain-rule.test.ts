import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compilePolicy, loadPolicy, REQUEST_CHECKS } from "@countersign/policy";
import { expect, test } from "vitest";
import { STATUSES } from "../http/problem.js";
import { allRules, explainRule, rulesPage } from "./explain-rule.js";
import { OWN_RULES } from "../event/own-rules.js";
import { RULES } from "../outbound/decide/rules.js";
import { remedyOf } from "../http/remedies.js";

const SOURCES = fileURLToPath(new URL("..", import.meta.url));
const page = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../docs/${path}`, import.meta.url)), "utf8");

function namedInSources(pattern: RegExp, folders = /^(?!explain)/): Set<string> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && folders.test(file),
  );
  const texts = files.map((file) => readFileSync(join(SOURCES, file), "utf8"));
  return new Set(texts.flatMap((text) => text.match(pattern) ?? []));
}

test("every rule that the gateway blocks by has a meaning, and no other rule has one", () => {
  expect([...namedInSources(/(?<=")gateway\/[a-z-]+(?=")/g)].toSorted()).toEqual(
    Object.keys(OWN_RULES).toSorted(),
  );
});

test("the table of meanings has the rules about events in the order of their evaluation, then those of other acts", () => {
  const evaluated = Object.values(RULES).flatMap(({ rules }) => rules.map(({ name }) => name));
  const own = new Set(evaluated.filter((name) => name.startsWith("gateway/")));
  const others = ["gateway/operator-stop", "gateway/one-way", "gateway/no-run"];
  expect(Object.keys(OWN_RULES)).toEqual([...own, ...others]);
  expect(evaluated.filter((name) => !own.has(name))).toContain("policy");
});

test("no file but the list names a rule about events in order to block by it", () => {
  const about = /(?<=")gateway\/[a-z-]+(?=")/g;
  const named = namedInSources(about, /^outbound\/(?!decide\/rules\.ts$)/);
  // Deliver reports the end of the run by this rule; decide withholds a repeated call under a key of its own.
  expect([...named].toSorted()).toEqual(["gateway/known-call", "gateway/unsound"]);
});

test("every rule of a policy and every check of a request has a meaning and a remedy", () => {
  const { rules } = compilePolicy(
    loadPolicy(`hushspec: "0.1.0"
rules:
  ag_ui: { transport: sse, capability_scopes: [{ scope_id: "ui:submit:modal" }] }
  ag_ui_components: { allow_components: [modal] }
  ag_ui_inbound: { default: block }
  ag_ui_tools: { call: { default: allow }, declare: { default: allow } }
  ag_ui_content: {}
  ag_ui_conditions: { rules: [{ id: late, when: "true" }] }
  velocity: [{ max_invocations: 1, window_seconds: 1, scope: session, id: few }]
`),
  );
  const named = rules.flatMap((rule) => (rule === "ag_ui_content" ? [] : [rule]));
  const checks = REQUEST_CHECKS.filter((check) => check !== "approval");
  for (const rule of [...named, ...checks.map((check) => `ag_ui_request.${check}`)]) {
    expect([rule, explainRule(rule)?.remedy]).toEqual([rule, expect.stringMatching(/.{10}/)]);
  }
  expect(explainRule("velocity.few")).toBe(explainRule("velocity.*"));
  for (const unknown of [
    "",
    "gateway/",
    "gateway/other",
    "constructor",
    "velocity.",
    "ag_ui_request.x",
  ]) {
    expect(explainRule(unknown)).toBeUndefined();
  }
});

test("every code of a rejected request has a remedy", () => {
  const inbound = [...page("errors/gateway-inbound.md").matchAll(/^## (ERR_\w+)/gm)];
  const codes = [...Object.keys(STATUSES), ...inbound.map(([, code]) => code as string)];
  for (const code of [...codes, "ERR_JSON_SYNTAX", "ERR_DIALECT_DOUBLE_SPELLING"]) {
    expect([code, remedyOf(code)]).toEqual([code, expect.stringMatching(/.{10}/)]);
  }
  expect(remedyOf("constructor")).toBeUndefined();
});

test("every code that a listener responds with or ends a stream with has a remedy", () => {
  const codes = [...namedInSources(/(?<=\bcode: ")[A-Z_]+(?=")/g, /^(?:http|outbound)\//)].filter(
    (code) => !code.startsWith("ERR_"),
  );
  expect(codes.length).toBeGreaterThan(15);
  for (const code of codes) expect([code, remedyOf(code)]).toEqual([code, expect.any(String)]);
});

test("the page about rules is the table, and the gateway's own page names each of its rules", async () => {
  await expect(rulesPage()).toMatchFileSnapshot("../../../../docs/policy/rules.md");
  for (const rule of Object.keys(OWN_RULES)) expect(page("gateway.md")).toContain(`\`${rule}\``);
  expect(allRules().size).toBeGreaterThan(40);
});
