import { expect, test } from "vitest";
import { sampleText } from "../testing/sample-text.js";
import { formatIssue } from "./issue.js";
import type { PolicyReader } from "./load.js";
import { loadPolicy, readPolicy } from "./load.js";

const SAMPLES = [
  "ag-ui-sse-policy.yaml",
  "ag-ui-ws-policy.yaml",
  "policy-component-allowlist.yaml",
  "policy-submit-scope.yaml",
  "policy-notification-rate.yaml",
  "starter.yaml",
];

test.each(SAMPLES)("%s loads as printed", (name) => {
  const { policy, issues } = readPolicy(sampleText(name), { file: name });
  expect(issues).toEqual([]);
  expect(policy?.hash).toMatch(/^[0-9a-f]{64}$/);
});

test("a fragment and the same blocks under rules are one policy", () => {
  const fragment = loadPolicy("ag_ui:\n  transport: sse\n");
  const whole = loadPolicy('hushspec: "0.1.0"\nrules:\n  ag_ui: { transport: sse }\n');
  expect(fragment.hash).toBe(whole.hash);
  expect(fragment.notes.map((note) => note.code)).toContain("fragment");
});

const problem = (text: string): string[] =>
  readPolicy(text, { file: "p.yaml" }).issues.map((issue) => formatIssue(issue));

test.each([
  [
    'hushspec: "0.1.0"\nrules:\n  ag_ui:\n    restricted_clasifications: [submit]\n',
    'p.yaml:4:5: unknown key "restricted_clasifications" in rules.ag_ui (did you mean "restricted_classifications"?)',
  ],
  [
    "ag_ui:\n  restricted_classifications: [submt]\n",
    'p.yaml:2:32: ag_ui.restricted_classifications.0 must be one of display, alert, mutate, create, destroy, navigate, submit (did you mean "submit"?)',
  ],
  ["ag_ui:\n  enabled: yes\n", "p.yaml:2:12: ag_ui.enabled must be a boolean, found a string"],
  [
    "ag_ui:\n  max_events_per_second: 0\n",
    "p.yaml:2:26: ag_ui.max_events_per_second must be at least 1",
  ],
  [
    "ag_ui_state:\n  links: block\n",
    'p.yaml:1:1: "ag_ui_state" is reserved for a later version and not understood yet',
  ],
  ['hushspec: "0.2.0"\nrules: {}\n', "p.yaml:1:11: unsupported hushspec version: 0.2.0"],
  ["rules: {}\n", 'p.yaml:1:1: the document needs the key "hushspec" (0.1.0)'],
  [
    'hushspec: "0.1.0"\nrules: {}\nag_ui: {}\n',
    'p.yaml:3:1: "ag_ui" stands beside "rules"; put it under "rules"',
  ],
  [
    "velocity:\n  max_invocations: 1\n  window_secs: 5\n",
    "p.yaml:2:3: velocity mixes two spellings: max_invocations beside window_secs",
  ],
  [
    "ag_ui_conditions:\n  rules:\n    - id: a\n      when: evnt.x\n",
    'p.yaml:4:13: unknown variable "evnt" (did you mean "event"?)',
  ],
  ["ag_ui: [\n", "p.yaml:2:1:"],
  ["ag_ui: {}\nag_ui: {}\n", "p.yaml:2:1: the same key appears twice"],
])("a mistake is named with its place (%#)", (text, message) => {
  expect(problem(text).join("\n")).toContain(message);
});

test("loadPolicy throws one coded error with all problems", () => {
  expect(() => loadPolicy("ag_ui:\n  a: 1\n  b: 2\n")).toThrow(
    expect.objectContaining({
      code: "ERR_POLICY_INVALID",
      facts: { file: "policy.yaml", issues: [expect.anything(), expect.anything()] },
    }),
  );
});

const reader =
  (files: Record<string, string>): PolicyReader =>
  (reference) => {
    const text = files[reference];
    return text === undefined ? undefined : { file: reference, text };
  };

test("a child's block replaces the base's block whole, other blocks are inherited", () => {
  const base =
    'hushspec: "0.1.0"\nname: base\nrules:\n  ag_ui: { transport: sse, max_events_per_second: 5 }\n  ag_ui_order: { on_warning: block }\n';
  const child =
    'hushspec: "0.1.0"\nextends: base.yaml\nrules:\n  ag_ui: { transport: websocket }\n';
  const { document, files } = loadPolicy(child, {
    file: "child.yaml",
    reader: reader({ "base.yaml": base }),
  });
  expect(document.rules.ag_ui).toEqual({ transport: "websocket" });
  expect(document.rules.ag_ui_order).toEqual({ on_warning: "block" });
  expect(document.name).toBe("base");
  expect(files).toEqual(["child.yaml", "base.yaml"]);
  expect(document).not.toHaveProperty("extends");
});

test("replace keeps only the child, but the base must still load", () => {
  const child =
    'hushspec: "0.1.0"\nextends: base.yaml\nmerge_strategy: replace\nrules:\n  ag_ui: {}\n';
  const good = reader({ "base.yaml": 'hushspec: "0.1.0"\nrules:\n  ag_ui_order: {}\n' });
  expect(Object.keys(loadPolicy(child, { reader: good }).document.rules)).toEqual(["ag_ui"]);
  expect(readPolicy(child, { reader: reader({ "base.yaml": "x: 1" }) }).policy).toBeUndefined();
});

test("extensions merge deeply unless the child says merge", () => {
  const base =
    'hushspec: "0.1.0"\nextensions:\n  origins: { profiles: [{ id: a, x: 1 }, { id: b }] }\n  posture: { states: { calm: {} } }\n';
  const child = (strategy: string): string =>
    `hushspec: "0.1.0"\nextends: base.yaml\nmerge_strategy: ${strategy}\nextensions:\n  origins: { profiles: [{ id: a, x: 2 }] }\n  posture: { states: { alarm: {} } }\n`;
  const load = (strategy: string) =>
    loadPolicy(child(strategy), { reader: reader({ "base.yaml": base }) }).document.extensions;
  expect(load("deep_merge")).toEqual({
    origins: { profiles: [{ id: "b" }, { id: "a", x: 2 }] },
    posture: { states: { calm: {}, alarm: {} } },
  });
  expect(load("merge")?.["posture"]).toEqual({ states: { alarm: {} } });
});

test.each([
  ["a circle", "circular extends detected: policy.yaml -> a.yaml -> b.yaml -> a.yaml", "a.yaml"],
  ["an address", "only files and built-in policies", "https://example.com/p.yaml"],
  ["a missing file", 'cannot read "nowhere.yaml"', "nowhere.yaml"],
  ["a foreign built-in", "is not shipped here", "cicd"],
])("%s in extends is refused", (_, message, reference) => {
  const files = reader({
    "a.yaml": 'hushspec: "0.1.0"\nextends: b.yaml\n',
    "b.yaml": 'hushspec: "0.1.0"\nextends: a.yaml\n',
  });
  const { issues } = readPolicy(`hushspec: "0.1.0"\nextends: ${reference}\n`, { reader: files });
  expect(issues[0]?.message).toContain(message);
  expect(issues[0]?.code).toBe("extends");
});

test("a chain of extends at the limit loads, one longer does not", () => {
  const chain: PolicyReader = (reference) => {
    const number = Number(reference);
    const next = number === 0 ? "" : `extends: "${number - 1}"\n`;
    return { file: reference, text: `hushspec: "0.1.0"\n${next}` };
  };
  const start = (length: number) =>
    readPolicy(`hushspec: "0.1.0"\nextends: "${length}"\n`, { reader: chain });
  expect(start(6).policy?.files).toHaveLength(8);
  expect(start(7).issues[0]?.message).toContain("more than 8 files");
});

test.each(["default", "strict", "permissive", "panic"])("the built-in policy %s loads", (name) => {
  const { policy } = readPolicy(`hushspec: "0.1.0"\nextends: ${name}\n`);
  expect(policy?.files).toEqual(["policy.yaml", `builtin:${name}`]);
});

test.each(
  ["default", "strict", "permissive", "panic"].flatMap((name) => [
    [`builtin:${name}`, name],
    [`hushspec:${name}`, name],
  ]),
)("extends: %s is the built-in policy %s", (reference, name) => {
  const header = 'hushspec: "0.1.0"\nextends: ';
  const { policy } = readPolicy(`${header}"${reference}"\n`);
  expect(policy?.files).toEqual(["policy.yaml", `builtin:${name}`]);
  expect(policy?.document).toEqual(readPolicy(`${header}${name}\n`).policy?.document);
});

test.each(["builtin:relaxed", "hushspec:", "builtin:../a.yaml", "hushspec:ai-agent"])(
  "extends: %s names no policy, and no file is looked for",
  (reference) => {
    const asked: string[] = [];
    const { issues } = readPolicy(`hushspec: "0.1.0"\nextends: "${reference}"\n`, {
      reader: (file) => {
        asked.push(file);
        return undefined;
      },
    });
    expect([issues[0]?.code, asked]).toEqual(["extends", []]);
  },
);

test("blocks of other guards are checked, kept and said to have no effect", () => {
  const text = 'hushspec: "0.1.0"\nrules:\n  ag_ui: {}\n  egress: { allow: ["*.example.com"] }\n';
  const policy = loadPolicy(text);
  expect(policy.document.rules["egress"]).toEqual({ allow: ["*.example.com"] });
  expect(policy.notes).toMatchObject([{ code: "no-effect", line: 4, path: "/rules/egress" }]);
  expect(problem(text.replace("allow:", "alow:"))[0]).toContain('did you mean "allow"?');
});

test("entries that can never match are noted", () => {
  const { notes } = loadPolicy(
    "ag_ui:\n  allow_display_without_capability: true\n  restricted_classifications: [alert]\n  capability_scopes:\n    - scope_id: ui:submit:modal:a\n      allow_targets: [{ component_type: form }]\nag_ui_components:\n  allow_components: [toast]\n  allow_ids: [modal:a]\n",
  );
  expect(notes.map(({ code, line }) => [code, line])).toEqual(
    expect.arrayContaining([
      ["unreachable", 9],
      ["unreachable", 6],
      ["weak", 3],
    ]),
  );
});

test("a rule of the protocol's order that does not exist is an error, not a rule without effect", () => {
  expect(() =>
    loadPolicy("ag_ui: {}\nag_ui_order: { rules: { tool-call/unknwn-result: block } }\n"),
  ).toThrow(/did you mean "tool-call\/unknown-result"/);
  expect(
    loadPolicy("ag_ui: {}\nag_ui_order: { rules: { run/first-event: block } }\n").hash,
  ).toBeTypeOf("string");
});

test.each(["{ id: a, CAP }, { id: a, CAP }", "{ id: rule-2, CAP }, { CAP }"])(
  "two velocity rules of one name are refused: %s",
  (rules) => {
    const list = rules.replaceAll("CAP", "max_invocations: 3, window_seconds: 10");
    expect(() => loadPolicy(`ag_ui: {}\nvelocity: [${list}]\n`)).toThrow(
      /two velocity rules are called/,
    );
  },
);
