import type { AgUiEvent } from "@countersign/wire";
import { expect, test } from "vitest";
import { Hold } from "../pipeline/hold.js";
import { createPassage } from "../pipeline/passage.js";
import type { Passage } from "../pipeline/passage.js";
import { BudgetGate } from "./budget-gate.js";

function passageOf(event: AgUiEvent): Passage {
  const passage = createPassage(0);
  passage.event = event;
  return passage;
}

const state = (count: number): Passage =>
  passageOf({ type: "STATE_SNAPSHOT", snapshot: { count } } as AgUiEvent);

/** A gate whose question about the n-th event is answered when the test says so. */
function createGate(asks: (events: number, asked: number) => boolean) {
  const hold = new Hold();
  const passed: (Passage | "end")[] = [];
  const wanted: number[] = [];
  let answer = (): void => {};
  const gate = new BudgetGate(
    { push: (passage) => void passed.push(passage), end: () => void passed.push("end") },
    (_presented, events) => {
      wanted.push(events);
      if (!asks(events, wanted.length)) return undefined;
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    hold,
  );
  return { gate, hold, passed, wanted, answer: () => answer() };
}

test("an event waits for its question, what comes behind waits for it, and all go on in order", async () => {
  const { gate, hold, passed, answer } = createGate((_events, asked) => asked === 2);
  const passages = [1, 2, 3].map(state);
  for (const passage of passages) gate.push(passage);
  expect(passed).toEqual(passages.slice(0, 1));
  expect(hold.until).toBeInstanceOf(Promise);
  const { until } = hold;
  answer();
  await until;
  expect(hold.until).toBeUndefined();
  hold.resume();
  expect(passed).toEqual(passages);
});

test("going on may run into the next question", async () => {
  const { gate, hold, passed, answer } = createGate((_events, asked) => asked !== 2 && asked < 4);
  const passages = [1, 2].map(state);
  for (const passage of passages) gate.push(passage);
  answer();
  await hold.until;
  hold.resume();
  expect(passed).toEqual(passages.slice(0, 1));
  answer();
  await hold.until;
  hold.resume();
  expect(passed).toEqual(passages);
});

test("an end waits for nobody: what was kept is judged with what is at hand", () => {
  const { gate, passed } = createGate(() => true);
  const passages = [1, 2].map(state);
  for (const passage of passages) gate.push(passage);
  gate.end({});
  expect(passed).toEqual([...passages, "end"]);
});

test("a list asks for as many as it has messages and calls; what is ours asks for nothing", () => {
  const { gate, wanted } = createGate(() => false);
  const call = (id: string) => ({
    id,
    type: "function",
    function: { name: "f", arguments: "{}" },
  });
  const messages = [
    { id: "u", role: "user", content: "hi" },
    { id: "a", role: "assistant", toolCalls: [call("1"), call("2")] },
  ];
  gate.push(passageOf({ type: "MESSAGES_SNAPSHOT", messages } as AgUiEvent));
  const input = { threadId: "t", runId: "r", messages };
  gate.push(
    passageOf({ type: "RUN_STARTED", threadId: "t", runId: "r", input } as unknown as AgUiEvent),
  );
  gate.push(passageOf({ type: "RUN_STARTED", threadId: "t", runId: "r" } as AgUiEvent));
  const ours = state(1);
  ours.supplied = true;
  gate.push(ours);
  expect(wanted).toEqual([5, 5, 1]);
});
