import { expect, test } from "vitest";
import { loadPolicy } from "../document/load.js";
import type { PolicyChange, PolicyDiff } from "./change.js";
import { comparePolicies } from "./compare-policies.js";

const diff = (before: string, after: string): PolicyDiff =>
  comparePolicies(loadPolicy(before).document, loadPolicy(after).document);
const changes = (before: string, after: string): PolicyChange[] =>
  diff(before, after).blocks.flatMap((block) => block.changes);
const BASE = "ag_ui: { allow_display_without_capability: true }\n";

test("equivalent policies have no changes", () => {
  expect(
    diff(
      "hushspec: '0.1.0'\nrules:\n  ag_ui: { restricted_classifications: [alert, mutate, create, destroy, navigate, submit] }\n",
      "ag_ui: { max_events_per_second: 10000, transport: any }\nag_ui_order: { on_error: block }\nag_ui_request: { state: { max_bytes: 262144 } }\n",
    ),
  ).toEqual({ verdict: "same", blocks: [] });
});

test("what a class needs is compared, whichever keys say it", () => {
  expect(
    changes(BASE, `${BASE}ag_ui_inbound: { allow_classifications: [display, submit] }\n`),
  ).toEqual([
    {
      setting: "inbound submit",
      kind: "changed",
      effect: "looser",
      says: "a token with its scope → nothing",
    },
  ]);
});

test.each([
  [
    "a component more",
    "ag_ui_components: { allow_components: [a] }",
    "ag_ui_components: { allow_components: [a, b] }",
    "looser",
  ],
  [
    "a component that a prefix covers",
    "ag_ui_components: { allow_components: ['a*'] }",
    "ag_ui_components: { allow_components: ['a*', ab] }",
    "same",
  ],
  [
    "a block list more",
    "ag_ui_components: { default: allow }",
    "ag_ui_components: { default: allow, block_ids: ['modal:x'] }",
    "stricter",
  ],
  [
    "nothing listed, then ids",
    "ag_ui_components: {}",
    "ag_ui_components: { allow_ids: ['modal:x'] }",
    "looser",
  ],
  [
    "a tool for another",
    "ag_ui_tools: { call: { allow: [a] } }",
    "ag_ui_tools: { call: { allow: [b] } }",
    "both",
  ],
  [
    "tools not listed any more",
    "ag_ui_tools: { call: { allow: [a] } }",
    "ag_ui_tools: {}",
    "looser",
  ],
  [
    "a glob for a name",
    "ag_ui_tools: { call: { allow: ['get_*'] } }",
    "ag_ui_tools: { call: { allow: ['get_user'] } }",
    "stricter",
  ],
  [
    "a schema",
    "ag_ui_tools: {}",
    "ag_ui_tools: { arguments: { t: { type: object } } }",
    "stricter",
  ],
  [
    "another schema",
    "ag_ui_tools: { arguments: { t: { type: object } } }",
    "ag_ui_tools: { arguments: { t: { type: object, required: [a] } } }",
    "both",
  ],
  ["an observing block", "ag_ui_content: {}", "ag_ui_content: { mode: observe }", "looser"],
  ["a word", "ag_ui_content: {}", "ag_ui_content: { words: [secret] }", "stricter"],
  [
    "hosts where images pass anyway",
    "ag_ui_content: { images: allow }",
    "ag_ui_content: { images: allow, image_hosts: [a.example] }",
    "same",
  ],
  ["a warning that blocks", "ag_ui_order: {}", "ag_ui_order: { on_warning: block }", "stricter"],
  [
    "a rule said twice",
    "ag_ui_order: {}",
    "ag_ui_order: { rules: { run/after-error: block } }",
    "same",
  ],
  [
    "a condition gone",
    "ag_ui_conditions: { rules: [{ id: c, when: 'true' }] }",
    "ag_ui_conditions: {}",
    "looser",
  ],
  [
    "a condition about less",
    "ag_ui_conditions: { rules: [{ id: c, when: 'true' }] }",
    "ag_ui_conditions: { rules: [{ id: c, when: 'true', match: { tool: 'a*' } }] }",
    "looser",
  ],
  [
    "another condition",
    "ag_ui_conditions: { rules: [{ id: c, when: 'true' }] }",
    "ag_ui_conditions: { rules: [{ id: c, when: 'false' }] }",
    "both",
  ],
  [
    "a cap before others",
    "velocity: { match: { tool: a }, max_invocations: 3, window_seconds: 60 }",
    "velocity: [{ match: { tool: b }, max_invocations: 9, window_seconds: 60 }, { match: { tool: a }, max_invocations: 3, window_seconds: 60 }]",
    "stricter",
  ],
  [
    "a longer window",
    "velocity: { max_invocations: 3, window_seconds: 10 }",
    "velocity: { max_invocations: 3, window_seconds: 20 }",
    "stricter",
  ],
  [
    "a faster bucket",
    "velocity: { max_requests_per_session: 3 }",
    "velocity: { max_requests_per_session: 4 }",
    "looser",
  ],
  [
    "a property",
    "ag_ui_request: {}",
    "ag_ui_request: { forwarded_props: { allow: [user] } }",
    "looser",
  ],
  [
    "one kind of history",
    "ag_ui_request: {}",
    "ag_ui_request: { history: { accept: full } }",
    "stricter",
  ],
  [
    "a member that is redacted",
    "ag_ui_evidence: { redact: ['*token*'] }",
    "ag_ui_evidence: { redact: ['*token*', password, apiToken] }",
    "stricter",
  ],
  [
    "redaction that is off",
    "ag_ui_evidence: { redact: [password] }",
    "ag_ui_evidence: { enabled: false, redact: [password] }",
    "looser",
  ],
  [
    "names that another covers",
    "ag_ui_evidence: { redact: ['*TOKEN*', token] }",
    "ag_ui_evidence: { redact: ['*token*'] }",
    "same",
  ],
  [
    "events that are never kept",
    "ag_ui_evidence: { never: [{ tool: 'pay_*' }] }",
    "ag_ui_evidence: { never: [{ tool: 'pay_card' }] }",
    "looser",
  ],
  ["checks that are off", "ag_ui_request: {}", "ag_ui_request: { enabled: false }", "looser"],
  [
    "a pinned tool more",
    "ag_ui_request: { tools: { pinned: { a: '00' } } }",
    "ag_ui_request: { tools: { pinned: { a: '00', b: '11' } } }",
    "looser",
  ],
  [
    "a tool that only shows",
    "ag_ui_tools: {}",
    "ag_ui_tools: {}\nag_ui_classify: { tools: [{ match: t, classification: display }] }",
    "looser",
  ],
  [
    "a stricter class of the same tool",
    "ag_ui_classify: { tools: [{ match: t, classification: display }] }",
    "ag_ui_classify: { tools: [{ match: t, classification: submit }] }",
    "stricter",
  ],
  [
    "entries in another order",
    "ag_ui_classify: { tools: [{ match: 't*', classification: display }, { match: ta, classification: submit }] }",
    "ag_ui_classify: { tools: [{ match: ta, classification: submit }, { match: 't*', classification: display }] }",
    "both",
  ],
  [
    "what clients see of a block",
    "ag_ui_content: {}",
    "ag_ui_content: { on_block: notice }",
    "same",
  ],
] as const)("%s", (_name, before, after, verdict) => {
  const padded = (text: string): string =>
    BASE + text.replaceAll("'00'", `'${"0".repeat(64)}'`).replaceAll("'11'", `'${"1".repeat(64)}'`);
  expect(diff(padded(before), padded(after)).verdict).toBe(verdict);
  const back: Record<string, string> = { looser: "stricter", stricter: "looser" };
  expect(diff(padded(after), padded(before)).verdict).toBe(back[verdict] ?? verdict);
});

test("a disabled policy denies everything, and its other settings are ignored", () => {
  const closed = "ag_ui: { enabled: false }\nag_ui_content: {}\n";
  expect(diff(BASE, closed)).toMatchObject({ verdict: "stricter", blocks: [{ block: "ag_ui" }] });
  expect(diff(closed, BASE).verdict).toBe("looser");
  expect(diff(closed, "egress: { allow: [] }\n").blocks.map(({ block }) => block)).toEqual([
    "document",
  ]);
});

test("every block has a verdict of its own", () => {
  const { verdict, blocks } = diff(
    `${BASE}ag_ui_tools: { call: { allow: [a] } }\n`,
    `${BASE}ag_ui_tools: { call: { allow: [a, b] } }\nag_ui_content: {}\n`,
  );
  expect(verdict).toBe("both");
  expect(blocks.map((entry) => [entry.block, entry.verdict])).toEqual([
    ["ag_ui_tools", "looser"],
    ["ag_ui_content", "stricter"],
  ]);
});
