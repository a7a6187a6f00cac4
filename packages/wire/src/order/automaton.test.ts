import { expect, test } from "vitest";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import { officialVerdict } from "../testing/official-pipeline.js";
import { createRunAutomaton } from "./automaton.js";
import type { RunAutomatonOptions } from "./automaton.js";
import { ORDER_RULES } from "./rules.js";
import { ILLEGAL, LEGAL } from "./testing/cases.js";
import {
  call,
  failed,
  finished,
  input,
  reasoning,
  result,
  s1,
  started,
  step,
  subagent,
  text,
} from "./testing/events.js";
import type { Loose } from "./testing/events.js";

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

test.each(LEGAL)("legal: %s", (_title, events) => {
  expect(broken(events)).toEqual([]);
});

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
