import { expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import { sampleText } from "../testing/sample-text.js";
import { policyOf } from "../testing/judge.js";
import { readCaseFile } from "./case-file.js";
import { readRecording } from "./recording.js";
import { replayRecording } from "./replay.js";
import { runCases } from "./run-cases.js";

test("the starter's cases pass and reach every rule but the list of declared tools", () => {
  const { file, issues } = readCaseFile(sampleText("starter.test.yaml"), "starter.test.yaml");
  expect(issues).toEqual([]);
  const report = runCases(policyOf(sampleText("starter.yaml")), file!.cases);
  expect(report.results.flatMap((result) => result.differences)).toEqual([]);
  expect(report.neverHit).toEqual(["ag_ui_tools.declare"]);
});

test("a case that fails says what was expected and what came", () => {
  const policy = policyOf("ag_ui: {}\n");
  const { results } = runCases(policy, [
    {
      name: "x",
      event: { type: "RUN_ERROR", message: "m" },
      expect: { decision: "allow" },
    },
    { name: "y", event: { nothing: 1 }, expect: { decision: "allow" } },
    { name: "z", event: { type: "NO_SUCH" }, expect: { decision: "allow" } },
  ]);
  expect(results.map((result) => result.differences[0])).toEqual([
    "expected allow, got block (ag_ui.capability: no capability token provided)",
    expect.stringContaining("neither an AG-UI event"),
    "unknown event type NO_SUCH",
  ]);
});

test("a mistake in a file of cases is named with its place", () => {
  const { issues } = readCaseFile("cases:\n  - name: a\n    evnt: {}\n", "c.yaml");
  expect(issues.map(({ message, line, suggestion }) => [message, line, suggestion])).toEqual(
    expect.arrayContaining([['unknown key "evnt" in cases.0', 3, "event"]]),
  );
});

const capture: JsonValue[] = [
  { threadId: "t", runId: "r", messages: [], tools: [{ name: "go", description: "" }] },
  { type: "RUN_STARTED", threadId: "t", runId: "r" },
  { event: { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" } },
  { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "go" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"to":' },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '"/home"}' },
  { type: "TOOL_CALL_END", toolCallId: "c" },
  { type: "RUN_FINISHED", threadId: "t", runId: "r" },
  { note: "not an event" },
];

const OPEN = policyOf(
  "ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }\n",
);
const SCHEMA = policyOf(
  "ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }\nag_ui_tools: { arguments: { go: { type: object, properties: { to: { const: /away } } } } }\n",
);

test("the same policy against itself changes nothing", () => {
  const { subjects } = readRecording(capture, OPEN);
  expect(replayRecording(OPEN, subjects, { baseline: OPEN })).toMatchObject({
    judged: 8,
    newlyBlocked: 0,
    newlyAllowed: 0,
    unchanged: 8,
  });
});

test("a capture is judged with the whole arguments of its calls", () => {
  const { subjects, skipped } = readRecording(capture, SCHEMA);
  expect(skipped).toMatchObject([{ position: 9 }]);
  const report = replayRecording(SCHEMA, subjects);
  expect(report.samples[0]).toMatchObject({
    position: 4,
    change: "newly blocked",
    after: "block: tool arguments do not fit their schema",
    rule: "ag_ui_tools.call",
  });
  expect(replayRecording(OPEN, subjects, { baseline: SCHEMA }).newlyAllowed).toBe(
    report.newlyBlocked,
  );
});

test("log entries are judged again from what a receipt says", () => {
  const entry = (seq: number, capability: string, allowed: boolean): JsonValue => ({
    seq,
    direction: "outbound",
    receipt: {
      event_type: "form_action",
      classification: "submit",
      target: { component_type: "modal", component_id: "confirm-refund" },
      transport: "sse",
      capability_id: capability,
      allowed,
    },
  });
  const policy = policyOf(sampleText("policy-submit-scope.yaml"));
  const { subjects } = readRecording(
    [entry(7, "cap-1", true), entry(8, "<none>", false), entry(9, "<none>", true)],
    policy,
  );
  const report = replayRecording(policy, subjects);
  expect(report).toMatchObject({ unchanged: 2, newlyBlocked: 1, partial: 3 });
  expect(report.samples[0]).toMatchObject({ position: 9 });
});

test("an operator's action is not evaluated again; an event that imitates one is", () => {
  const policy = policyOf(sampleText("policy-submit-scope.yaml"));
  const actOf = (agent: string) => ({
    seq: 10,
    direction: "inbound",
    receipt: {
      agent_id: agent,
      event_type: { custom: "operator.capability-issue" },
      classification: "create",
      target: { component_type: "operator", component_id: "admin-1a2b3c4d" },
      allowed: true,
    },
  });
  expect(readRecording([actOf("<operator>")], policy)).toMatchObject({
    subjects: [],
    skipped: [{ problem: "an act of an operator" }],
  });
  expect(readRecording([actOf("support")], policy)).toMatchObject({
    subjects: [{ position: 10, allowed: true }],
    skipped: [],
  });
});

test("a run that an operator ended is not a policy decision, and only the rule shows it", () => {
  const policy = policyOf(sampleText("policy-submit-scope.yaml"));
  const stop = (rule: string) => ({
    seq: 11,
    direction: "outbound",
    rule,
    receipt: {
      event_type: "lifecycle",
      classification: "destroy",
      target: { component_type: "operator", component_id: "admin-1a2b3c4d" },
      allowed: false,
      denial_reason: "stopped by operator admin-1a2b3c4d",
    },
  });
  expect(readRecording([stop("gateway/operator-stop")], policy)).toMatchObject({
    subjects: [],
    skipped: [{ position: 1, problem: "an act of an operator" }],
  });
  expect(readRecording([stop("ag_ui.blocked")], policy).subjects).toHaveLength(1);
});

const BROWSERS = `ag_ui: { allow_display_without_capability: true }
ag_ui_classify: { state: [{ match: "/ui/**", classification: display }] }
`;

test.each([
  [
    "a patch",
    {
      type: "STATE_DELTA",
      delta: [
        { op: "add", path: "/ui/x", value: 1 },
        { op: "add", path: "/cart/total", value: 1 },
      ],
    },
    "/cart/total",
  ],
  [
    "a snapshot",
    { type: "STATE_SNAPSHOT", snapshot: { ui: { x: 1 }, cart: { total: 1 } } },
    "/cart/total",
  ],
  [
    "a request",
    { threadId: "t", runId: "r", messages: [], state: { ui: 1, cart: { total: 1 } } },
    "/state/cart/total",
  ],
  [
    "a snapshot of which nothing passes",
    { type: "STATE_SNAPSHOT", snapshot: { cart: 1, theme: 2 } },
    "/",
  ],
] satisfies [string, JsonValue, string][])(
  "what a rule says about the state names the path: %s",
  (_what, line, path) => {
    const strict = policyOf(BROWSERS);
    const { subjects } = readRecording([line], strict);
    const [sample] = replayRecording(strict, subjects).samples;
    expect(sample).toMatchObject({ change: "newly blocked", rule: "ag_ui.capability", path });
  },
);

test("each policy judges by its own classes", () => {
  const before = policyOf("ag_ui: { allow_display_without_capability: true }\n");
  const after = policyOf(BROWSERS);
  const lines = [{ type: "STATE_SNAPSHOT", snapshot: { ui: { x: 1 } } }];
  const report = replayRecording(after, readRecording(lines, after).subjects, {
    baseline: before,
    baselineSubjects: readRecording(lines, before).subjects,
  });
  expect(report).toMatchObject({
    newlyAllowed: 1,
    samples: [{ rule: "ag_ui.capability", path: "/ui/x" }],
  });
});
