import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import { officialVerdict } from "../testing/official-pipeline.js";
import { createRunAutomaton } from "./automaton.js";
import type { RunAutomatonOptions } from "./automaton.js";
import { ORDER_RULES } from "./rules.js";
import type { OrderRuleId } from "./rules.js";

type Loose = { type: AgUiEvent["type"] } & Record<string, unknown>;

const started: Loose = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const finished: Loose = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const failed: Loose = { type: "RUN_ERROR", message: "m" };
const custom: Loose = { type: "CUSTOM", name: "n", value: 1 };
const input: RunAgentInput = { threadId: "t", runId: "r", messages: [] };

const text = (verb: "START" | "CONTENT" | "END", messageId = "m", more: object = {}): Loose => ({
  type: `TEXT_MESSAGE_${verb}`,
  messageId,
  ...(verb === "CONTENT" && { delta: "" }),
  ...more,
});
const call = (verb: "START" | "ARGS" | "END", toolCallId = "c", more: object = {}): Loose => ({
  type: `TOOL_CALL_${verb}`,
  toolCallId,
  ...(verb === "START" && { toolCallName: "f" }),
  ...(verb === "ARGS" && { delta: "" }),
  ...more,
});
const result = (toolCallId = "c", more: object = {}): Loose => ({
  type: "TOOL_CALL_RESULT",
  messageId: "result",
  toolCallId,
  content: "",
  ...more,
});
const subagent = (
  verb: "STARTED" | "FINISHED" | "ERROR",
  subagentRunId: unknown = "s",
  more: object = {},
): Loose => ({
  type: `SUBAGENT_${verb}`,
  subagentRunId,
  ...(verb === "STARTED" && { name: "n" }),
  ...(verb === "ERROR" && { message: "m" }),
  ...more,
});
const reasoning = (
  verb: "START" | "END" | "MESSAGE_START" | "MESSAGE_CONTENT" | "MESSAGE_END",
  more: object = {},
): Loose => ({
  type: `REASONING_${verb}`,
  messageId: "m",
  ...(verb === "MESSAGE_CONTENT" && { delta: "" }),
  ...more,
});
const step = (verb: "STARTED" | "FINISHED", more: object = {}): Loose => ({
  type: `STEP_${verb}`,
  stepName: "p",
  ...more,
});
const s1 = { subagentRunId: "s1" };
const snapshot = (...messages: object[]): Loose => ({ type: "MESSAGES_SNAPSHOT", messages });
const interrupt = (...interrupts: object[]): Loose => ({
  ...finished,
  outcome: { type: "interrupt", interrupts },
});

/** Every rule that the events break, as `rule@event`, and `rule@end` for those at the end. */
function broken(events: Loose[], options: RunAutomatonOptions = {}): string[] {
  const automaton = createRunAutomaton(options);
  const found = events.flatMap((event) =>
    automaton
      .push(event as unknown as AgUiEvent)
      .map(({ rule, eventNumber }) => `${rule}@${eventNumber}`),
  );
  return [...found, ...automaton.end().map(({ rule }) => `${rule}@end`)];
}

const LEGAL: [string, Loose[]][] = [
  ["V1: a run after an error", [failed, started, finished]],
  ["V2: a late error after the finish", [started, finished, failed]],
  [
    "V6: a closed message opened again",
    [started, text("START"), text("END"), text("START"), text("END"), finished],
  ],
  [
    "V8: one step name under two owners",
    [
      started,
      step("STARTED"),
      step("STARTED", s1),
      step("FINISHED", s1),
      step("FINISHED"),
      finished,
    ],
  ],
  [
    "V9: a span and its message sharing an id",
    [
      started,
      reasoning("START"),
      reasoning("MESSAGE_START"),
      reasoning("MESSAGE_END"),
      reasoning("END"),
      finished,
    ],
  ],
  [
    "V10: an absent tag never disagrees",
    [started, text("START", "m", s1), text("CONTENT"), text("END"), finished],
  ],
  [
    "V11: a delta for an unknown activity",
    [
      started,
      { type: "ACTIVITY_DELTA", messageId: "x", activityType: "t", patch: [], ...s1 },
      finished,
    ],
  ],
  ["V12: tags that nobody announced", [started, custom, { ...custom, ...s1 }, finished]],
  ["V14: an error ends everything open", [started, text("START"), step("STARTED"), failed]],
  [
    "a result before the end of its call",
    [started, call("START"), result(), call("END"), finished],
  ],
  [
    "E7: the result of a call that was interrupted",
    [
      started,
      interrupt({ id: "i", reason: "x", toolCallId: "c" }),
      { ...started, runId: "r2" },
      result(),
      { ...finished, runId: "r2" },
    ],
  ],
  [
    "E9: an exact list",
    [
      started,
      call("START", "a"),
      call("END", "a"),
      call("START", "b"),
      call("END", "b"),
      result("a"),
      { ...finished, outcome: { type: "success", pendingToolCallIds: ["b"] } },
    ],
  ],
  ["E11: a newer version", [{ ...started, protocolVersion: "9.9" }, finished]],
];

test.each(LEGAL)("legal: %s", (_title, events) => {
  expect(broken(events)).toEqual([]);
});

const ILLEGAL: [OrderRuleId, string, Loose[], string[]][] = [
  ["run/after-error", "event", [failed, custom], ["run/after-error@2"]],
  ["run/after-error", "second error", [started, failed, failed], ["run/after-error@3"]],
  ["run/after-finish", "event", [started, finished, custom], ["run/after-finish@3"]],
  ["run/after-finish", "second finish", [started, finished, finished], ["run/after-finish@3"]],
  ["run/first-event", "custom", [custom, started, finished], ["run/first-event@1"]],
  [
    "run/nested-start",
    "start",
    [started, { ...started, runId: "r2" }, { ...finished, runId: "r2" }],
    ["run/nested-start@2"],
  ],
  [
    "subagent/null-field",
    "tag",
    [started, { ...custom, subagentRunId: null }, finished],
    ["subagent/null-field@2"],
  ],
  [
    "subagent/null-field",
    "message",
    [started, snapshot({ id: "x", role: "user", content: "", subagentRunId: null }), finished],
    ["subagent/null-field@2"],
  ],
  [
    "subagent/null-field",
    "interrupt",
    [started, interrupt({ id: "x", reason: "", subagentRunId: null })],
    ["subagent/null-field@2", "run/truncated@end"],
  ],
  [
    "subagent/null-field",
    "optional",
    [started, subagent("STARTED", "s", { description: null }), finished],
    ["subagent/null-field@2"],
  ],
  [
    "subagent/null-field",
    "interruptIds",
    [
      started,
      subagent("STARTED"),
      subagent("FINISHED", "s", { outcome: { type: "suspended", interruptIds: null } }),
      failed,
    ],
    ["subagent/null-field@3"],
  ],
  [
    "subagent/outcome",
    "type",
    [
      started,
      subagent("STARTED"),
      subagent("FINISHED", "s", { outcome: { type: "lost" } }),
      failed,
    ],
    ["subagent/outcome@3"],
  ],
  [
    "subagent/outcome",
    "ids",
    [
      started,
      subagent("STARTED"),
      subagent("FINISHED", "s", { outcome: { type: "suspended", interruptIds: [1] } }),
      failed,
    ],
    ["subagent/outcome@3"],
  ],
  [
    "text/already-open",
    "start",
    [started, text("START"), text("START"), text("END"), finished],
    ["text/already-open@3"],
  ],
  ["text/not-open", "content", [started, text("CONTENT"), finished], ["text/not-open@2"]],
  [
    "text/not-open",
    "after its end",
    [started, text("START"), text("END"), text("CONTENT"), finished],
    ["text/not-open@4"],
  ],
  [
    "tool-call/already-open",
    "start",
    [started, call("START"), call("START"), call("END"), finished],
    ["tool-call/already-open@3"],
  ],
  [
    "tool-call/not-open",
    "args",
    [started, call("ARGS"), call("END"), finished],
    ["tool-call/not-open@2", "tool-call/not-open@3"],
  ],
  [
    "tool-call/parent-owner",
    "tag",
    [
      started,
      text("START"),
      text("END"),
      call("START", "c", { parentMessageId: "m", ...s1 }),
      call("END"),
      finished,
    ],
    ["tool-call/parent-owner@4"],
  ],
  [
    "tool-call/parent-owner",
    "moved",
    [
      started,
      text("START", "m", s1),
      text("END"),
      call("START"),
      call("END"),
      call("START", "c", { parentMessageId: "m" }),
      call("END"),
      finished,
    ],
    ["tool-call/parent-owner@6"],
  ],
  [
    "step/already-open",
    "start",
    [started, step("STARTED"), step("STARTED"), step("FINISHED"), finished],
    ["step/already-open@3"],
  ],
  [
    "step/not-open",
    "other owner",
    [started, step("STARTED"), step("FINISHED", s1), step("FINISHED"), finished],
    ["step/not-open@3"],
  ],
  [
    "reasoning/already-open",
    "span",
    [started, reasoning("START"), reasoning("START"), reasoning("END"), finished],
    ["reasoning/already-open@3"],
  ],
  [
    "reasoning/not-open",
    "content in a span only",
    [started, reasoning("START"), reasoning("MESSAGE_CONTENT"), reasoning("END"), finished],
    ["reasoning/not-open@3"],
  ],
  [
    "owner/mismatch",
    "continuation of the parent's",
    [started, text("START"), text("CONTENT", "m", s1), text("END"), finished],
    ["owner/mismatch@3"],
  ],
  [
    "owner/mismatch",
    "after a snapshot gave it away",
    [
      started,
      text("START"),
      snapshot({ id: "m", role: "assistant", ...s1 }),
      text("END", "m", { subagentRunId: "s2" }),
      finished,
    ],
    ["owner/mismatch@4"],
  ],
  [
    "owner/mismatch",
    "encrypted value of a call",
    [
      started,
      call("START", "c", s1),
      call("END"),
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "tool-call",
        entityId: "c",
        encryptedValue: "",
        subagentRunId: "s2",
      },
      finished,
    ],
    ["owner/mismatch@4"],
  ],
  [
    "subagent/required-field",
    "id",
    [started, subagent("FINISHED", 5), finished],
    ["subagent/required-field@2"],
  ],
  [
    "subagent/already-active",
    "start",
    [started, subagent("STARTED"), subagent("STARTED"), subagent("FINISHED"), finished],
    ["subagent/already-active@3"],
  ],
  [
    "subagent/reused",
    "start",
    [
      started,
      subagent("STARTED"),
      subagent("FINISHED"),
      subagent("STARTED"),
      subagent("FINISHED"),
      finished,
    ],
    ["subagent/reused@4"],
  ],
  [
    "subagent/unknown-parent",
    "start",
    [started, subagent("STARTED", "s", { parentSubagentRunId: "p" }), subagent("ERROR"), finished],
    ["subagent/unknown-parent@2"],
  ],
  ["subagent/not-active", "end", [started, subagent("ERROR"), finished], ["subagent/not-active@2"]],
  ["run/open-at-finish", "finish", [started, text("START"), finished], ["run/open-at-finish@3"]],
  [
    "event/unexpanded-chunk",
    "chunk",
    [started, { type: "TEXT_MESSAGE_CHUNK", messageId: "m" }, finished],
    ["event/unexpanded-chunk@2"],
  ],
  ["run/finish-ids", "runId", [started, { ...finished, runId: "x" }], ["run/finish-ids@2"]],
  ["run/finish-ids", "threadId", [started, { ...finished, threadId: "x" }], ["run/finish-ids@2"]],
  [
    "run/thread-change",
    "second run",
    [
      started,
      finished,
      { ...started, runId: "r2", threadId: "u" },
      { ...finished, runId: "r2", threadId: "u" },
    ],
    ["run/thread-change@3"],
  ],
  ["run/id-reused", "second run", [started, finished, started, finished], ["run/id-reused@3"]],
  ["run/truncated", "cut", [started, text("START")], ["run/truncated@end"]],
  ["run/truncated", "empty", [], ["run/truncated@end"]],
  [
    "interrupt/duplicate-id",
    "outcome",
    [started, interrupt({ id: "i", reason: "" }, { id: "i", reason: "" })],
    ["interrupt/duplicate-id@2"],
  ],
  [
    "tool-call/unknown-result",
    "result",
    [started, result(), finished],
    ["tool-call/unknown-result@2"],
  ],
  [
    "tool-call/renamed",
    "safe to danger",
    [
      started,
      call("START"),
      call("END"),
      call("START", "c", { toolCallName: "danger" }),
      call("END"),
      finished,
    ],
    ["tool-call/renamed@4"],
  ],
  [
    "tool-call/renamed",
    "a call of a snapshot",
    [
      started,
      snapshot({
        id: "m",
        role: "assistant",
        toolCalls: [{ id: "c", type: "function", function: { name: "safe", arguments: "" } }],
      }),
      call("START"),
      call("END"),
      finished,
    ],
    ["tool-call/renamed@3"],
  ],
  [
    "tool-call/renamed",
    "a call of an earlier run",
    [
      started,
      call("START"),
      call("END"),
      finished,
      { ...started, runId: "r2" },
      call("START", "c", { toolCallName: "danger" }),
      call("END"),
      { ...finished, runId: "r2" },
    ],
    ["tool-call/renamed@6"],
  ],
  [
    "tool-call/reparented",
    "other message",
    [
      started,
      call("START", "c", { parentMessageId: "a" }),
      call("END"),
      call("START", "c", { parentMessageId: "b" }),
      call("END"),
      finished,
    ],
    ["tool-call/reparented@4"],
  ],
  [
    "text/reopen-disagrees",
    "role",
    [
      started,
      text("START"),
      text("END"),
      text("START", "m", { role: "user" }),
      text("END"),
      finished,
    ],
    ["text/reopen-disagrees@4"],
  ],
  [
    "tool-call/pending-list",
    "list",
    [
      started,
      call("START"),
      call("END"),
      { ...finished, outcome: { type: "success", pendingToolCallIds: [] } },
    ],
    ["tool-call/pending-list@4"],
  ],
  [
    "subagent/announced-late",
    "start",
    [
      started,
      { ...custom, subagentRunId: "s" },
      subagent("STARTED"),
      subagent("FINISHED"),
      finished,
    ],
    ["subagent/announced-late@3"],
  ],
  [
    "run/protocol-version",
    "start",
    [{ ...started, protocolVersion: "one" }, finished],
    ["run/protocol-version@1"],
  ],
];

test.each(ILLEGAL)("%s: %s", (_rule, _title, events, expected) => {
  expect(broken(events)).toEqual(expected);
});

test.each(ILLEGAL)(
  "%s, %s: the official client refuses it at the same event if V, and lets it pass if E",
  (rule, _title, events, expected) => {
    const { reference } = ORDER_RULES[rule];
    const at = reference.startsWith("V") ? Number(expected[0]?.split("@")[1]) - 1 : undefined;
    expect(officialVerdict(events as unknown as AgUiEvent[]).failedAt).toBe(at);
  },
);

test.each(LEGAL)("legal, says the official client too: %s", (_title, events) => {
  expect(officialVerdict(events as unknown as AgUiEvent[]).failedAt).toBeUndefined();
});

test("the rules about the input hold only when the input is known", () => {
  const other = { ...started, threadId: "u" };
  expect(broken([other, { ...finished, threadId: "u" }], { input })).toEqual([
    "run/thread-of-input@1",
  ]);
  expect(broken([other, { ...finished, threadId: "u" }])).toEqual([]);
  const replayed = [
    { ...started, runId: "old" },
    { ...finished, runId: "old" },
  ];
  expect(broken(replayed, { input })).toEqual(["run/requested-run@end"]);
  expect(broken([...replayed, started, finished], { input })).toEqual([]);
  expect(broken([failed], { input })).toEqual([]);
});

test("calls of the input's history are known, by name too", () => {
  const history: RunAgentInput = {
    ...input,
    messages: [
      {
        id: "h",
        role: "assistant",
        toolCalls: [{ id: "c", type: "function", function: { name: "safe", arguments: "{}" } }],
      },
    ],
  };
  expect(broken([started, result(), finished], { input: history })).toEqual([]);
  expect(broken([started, call("START"), call("END"), finished], { input: history })).toEqual([
    "tool-call/renamed@2",
  ]);
});

test("every rule has a case that breaks it", () => {
  const covered = new Set<string>([
    ...ILLEGAL.map(([rule]) => rule),
    "run/thread-of-input",
    "run/requested-run",
  ]);
  expect(Object.keys(ORDER_RULES).filter((rule) => !covered.has(rule))).toEqual([]);
});

test("a broken rule says which, how bad, what about and where, and quotes no more than 200 characters", () => {
  const automaton = createRunAutomaton();
  automaton.push(started as unknown as AgUiEvent, 7);
  const [violation] = automaton.push(text("END", "x".repeat(500)) as unknown as AgUiEvent, 8);
  expect(violation).toEqual({
    rule: "text/not-open",
    severity: "error",
    message: "TEXT_MESSAGE_END: Text continues only an open message",
    eventNumber: 8,
    subject: "x".repeat(200),
  });
});

test("strict turns findings into errors, but never refuses a version", () => {
  const severities = (strict: boolean): string[] => {
    const automaton = createRunAutomaton({ strict });
    const events = [{ ...started, protocolVersion: "one" }, result()] as unknown as AgUiEvent[];
    return events.flatMap((event) => automaton.push(event)).map(({ severity }) => severity);
  };
  expect(severities(false)).toEqual(["warning", "warning"]);
  expect(severities(true)).toEqual(["warning", "error"]);
});

test("the good path allocates no list of violations", () => {
  const automaton = createRunAutomaton();
  const first = automaton.push(started as unknown as AgUiEvent);
  expect(automaton.push(text("START") as unknown as AgUiEvent)).toBe(first);
});

test("open units and the state of the run can be asked for at any time", () => {
  const automaton = createRunAutomaton();
  expect(automaton.runState()).toBe("idle");
  const events = [
    started,
    step("STARTED", s1),
    text("START"),
    reasoning("START"),
    reasoning("MESSAGE_START"),
    call("START"),
    subagent("STARTED"),
  ];
  for (const event of events) automaton.push(event as unknown as AgUiEvent);
  expect(automaton.runState()).toBe("active");
  expect(automaton.openUnits()).toEqual([
    { kind: "step", id: "p", subagentRunId: "s1" },
    { kind: "text", id: "m" },
    { kind: "reasoning-message", id: "m" },
    { kind: "reasoning-span", id: "m" },
    { kind: "tool-call", id: "c" },
    { kind: "subagent", id: "s" },
  ]);
  automaton.push(failed as unknown as AgUiEvent);
  expect(automaton.runState()).toBe("errored");
  expect(automaton.openUnits()).toEqual([]);
});

function codeOf(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return isCountersignError(error) ? error.code : error;
  }
}

test("open units are bounded: the limit passes, one more is refused, and the automaton is dead", () => {
  const automaton = createRunAutomaton({ limits: { maxOpenUnits: 2 } });
  const push = (event: Loose): unknown => automaton.push(event as unknown as AgUiEvent);
  for (const event of [
    started,
    text("START", "a"),
    call("START", "b"),
    call("END", "b"),
    step("STARTED"),
  ])
    push(event);
  expect(codeOf(() => push(text("START", "c")))).toBe("ERR_ORDER_TOO_MANY_OPEN");
  expect(codeOf(() => push(finished))).toBe("ERR_ORDER_TOO_MANY_OPEN");
});

test("remembered ids are bounded by their characters, drip-fed; a new run starts with none", () => {
  const automaton = createRunAutomaton({ limits: { maxStateSize: 10 * 65 } });
  const push = (event: Loose): unknown => automaton.push(event as unknown as AgUiEvent);
  const ten = (): void => {
    for (const id of "0123456789")
      for (const verb of ["START", "END"] as const) push(text(verb, id));
  };
  push(started);
  expect(codeOf(ten)).toBeUndefined();
  expect(codeOf(() => push(text("START", "x")))).toBe("ERR_ORDER_STATE_TOO_LARGE");
  const fresh = createRunAutomaton({ limits: { maxStateSize: 65 } });
  for (const event of [started, text("START", "a"), failed, started, text("START", "b")]) {
    fresh.push(event as unknown as AgUiEvent);
  }
  expect(fresh.openUnits()).toEqual([{ kind: "text", id: "b" }]);
});

test("steps give their memory back when they finish", () => {
  const automaton = createRunAutomaton({ limits: { maxStateSize: 65 } });
  automaton.push(started as unknown as AgUiEvent);
  for (let times = 0; times < 1000; times++) {
    automaton.push(step("STARTED") as unknown as AgUiEvent);
    automaton.push(step("FINISHED") as unknown as AgUiEvent);
  }
  expect(automaton.openUnits()).toEqual([]);
});

test("a socket of very many runs neither grows without bound nor fails", () => {
  const automaton = createRunAutomaton();
  const events = [started, call("START"), call("END"), finished];
  for (let run = 0; run < 30_000; run++) {
    for (const event of events) {
      const unique = {
        ...event,
        ...(event["runId"] !== undefined && { runId: `run-${run}` }),
        ...(event["toolCallId"] !== undefined && { toolCallId: `call-${run}` }),
      };
      automaton.push(unique as unknown as AgUiEvent);
    }
  }
  expect(automaton.runState()).toBe("finished");
});

test("a limit that is no positive integer is the caller's mistake", () => {
  expect(() => createRunAutomaton({ limits: { maxOpenUnits: 0 } })).toThrow(TypeError);
});
