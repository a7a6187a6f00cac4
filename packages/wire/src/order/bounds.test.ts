import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import type { AgUiEvent } from "../model/event.js";
import { createRunAutomaton } from "./automaton.js";
import {
  call,
  custom,
  failed,
  finished,
  reasoning,
  result,
  snapshot,
  started,
  step,
  subagent,
  text,
} from "./testing/events.js";
import type { Loose } from "./testing/events.js";

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

test.each<[string, (id: string) => Loose]>([
  ["text message", (id) => text("START", id)],
  ["span of reasoning", (messageId) => reasoning("START", { messageId })],
  ["tool call", (id) => call("START", id)],
  ["call that a result answers", (id) => result(id)],
  ["message of a result", (messageId) => result("c", { messageId })],
  ["step", (stepName) => step("STARTED", { stepName })],
  ["subagent", (id) => subagent("STARTED", id)],
  ["tag of an unknown subagent", (subagentRunId) => ({ ...custom, subagentRunId })],
  [
    "activity",
    (messageId) => ({ type: "ACTIVITY_SNAPSHOT", messageId, activityType: "a", content: {} }),
  ],
  ["message of a snapshot", (id) => snapshot({ id, role: "user", content: "" })],
])("the id of a %s counts as remembered", (_kind, event) => {
  const automaton = createRunAutomaton({ limits: { maxStateSize: 10 * 65 } });
  automaton.push(started as unknown as AgUiEvent);
  const twenty = (): void => {
    for (const id of "abcdefghijklmnopqrst") automaton.push(event(id) as unknown as AgUiEvent);
  };
  expect(codeOf(twenty)).toBe("ERR_ORDER_STATE_TOO_LARGE");
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

test("a limit that is not a positive integer is a TypeError", () => {
  expect(() => createRunAutomaton({ limits: { maxOpenUnits: 0 } })).toThrow(TypeError);
});
