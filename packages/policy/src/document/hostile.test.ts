import { expect, test } from "vitest";
import { DEFAULT_POLICY_LIMITS } from "./limits.js";
import { readPolicy } from "./load.js";

const bomb = (): string => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 10; level += 1) {
    const alias = `*a${level - 1}`;
    lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => alias).join(", ")}]`);
  }
  return lines.join("\n");
};

test.each([
  ["an alias bomb", bomb()],
  ["a cycle of aliases", "a: &a [*a]"],
  ["flow nesting", `a: ${"[".repeat(100_000)}`],
  ["closed flow nesting", `a: ${"[".repeat(5000)}${"]".repeat(5000)}`],
  ["compact nesting", `${"- ".repeat(50_000)}x`],
  ["explicit keys", `${"? ".repeat(50_000)}x`],
  [
    "indented nesting",
    Array.from({ length: 1000 }, (_, level) => `${" ".repeat(level)}k:`).join("\n"),
  ],
  ["a huge file", `a: ${"x".repeat(DEFAULT_POLICY_LIMITS.maxTextLength)}`],
  ["many values", `ag_ui_components: { allow_components: [${"a,".repeat(60_000)}] }`],
  [
    "many keys on one line",
    `{${Array.from({ length: 8000 }, (_, index) => `k${index}: 1`).join(",")}}`,
  ],
  ["many keys", Array.from({ length: 8000 }, (_, index) => `k${index}: 1`).join("\n")],
  ["a line of anchors", `a: ${"&a ".repeat(170_000)}`],
  ["a line of colons", "a: ".repeat(170_000)],
  ["a line of question marks", `{${"? ".repeat(250_000)}`],
  ["carriage returns", "a: 1\r".repeat(100_000)],
  ["a custom tag", "ag_ui: !!js/function x"],
  ["a local tag", "ag_ui: !secret {}"],
  ["a directive", "%YAML 1.1\n---\nag_ui: {}\n"],
  ["two documents", "ag_ui: {}\n---\nag_ui: {}\n"],
  ["a prototype key", "ag_ui_tools: { arguments: { __proto__: {} } }"],
  ["a number as key", "1: x"],
  ["a list as key", "? [a]\n: x"],
  ["infinity", "ag_ui: { max_events_per_second: .inf }"],
  ["an empty file", ""],
  ["a list", "- a"],
  ["a scalar", "hello"],
  ["null bytes", "ag_ui: \u0000"],
  ["an unknown alias", "ag_ui: *nowhere"],
  ["a merge key", "base: &b {}\nag_ui:\n  <<: *b\n"],
  [
    "a backtracking pattern with look-ahead",
    "secret_patterns: { patterns: [{ name: a, pattern: '(?=a)', severity: warn }] }",
  ],
  ["a pattern that is too long", `shell_commands: { forbidden_patterns: [${"a".repeat(513)}] }`],
  [
    "an expression that is too deep",
    `ag_ui_conditions: { rules: [{ id: a, when: '${"(".repeat(100)}true${")".repeat(100)}' }] }`,
  ],
  ["a remote schema", "ag_ui_tools: { arguments: { t: { $ref: 'http://169.254.169.254/x' } } }"],
])("%s is refused, and soon", (_, text) => {
  const { policy, issues } = readPolicy(text);
  expect(policy).toBeUndefined();
  expect(issues.length).toBeGreaterThan(0);
  expect(issues.length).toBeLessThanOrEqual(DEFAULT_POLICY_LIMITS.maxIssues);
  for (const issue of issues) expect(issue.message.length).toBeLessThan(600);
});

test("values at the limit load, one more does not", () => {
  const list = (length: number): string =>
    `hushspec: "0.1.0"\nrules:\n  ag_ui_components: { allow_components: [${Array.from({ length }, () => "a").join(",")}] }\n`;
  // Root, version, rules, block and the list itself are values too.
  const limits = { maxNodes: 105 };
  expect(readPolicy(list(100), { limits }).policy).toBeDefined();
  expect(readPolicy(list(101), { limits }).issues[0]?.code).toBe("limit");
});

test("aliases at the limit load, one more does not", () => {
  const text = (uses: number): string =>
    `ag_ui_components:\n  allow_components: [&x a${", *x".repeat(uses)}]\n`;
  expect(readPolicy(text(100)).policy).toBeDefined();
  expect(readPolicy(text(101)).issues[0]?.message).toContain("more than 100 aliases");
});

test("characters at the limit are read, one more is not", () => {
  const limits = { maxTextLength: 20 };
  expect(readPolicy("ag_ui: {}".padEnd(20), { limits }).policy).toBeDefined();
  expect(readPolicy("ag_ui: {}".padEnd(21), { limits }).issues[0]?.code).toBe("limit");
});
