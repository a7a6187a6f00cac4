import type { AgUiEvent } from "@countersign/wire";
import { expect, test } from "vitest";
import { Pause } from "../../event/waits.js";
import { createEventContext } from "../../event/event-context.js";
import type { EventContext } from "../../event/event-context.js";
import { QuotaGate } from "./quota-gate.js";

function passageOf(event: AgUiEvent): EventContext {
  const context = createEventContext(0);
  context.event = event;
  return context;
}

const state = (count: number): EventContext =>
  passageOf({ type: "STATE_SNAPSHOT", snapshot: { count } } as AgUiEvent);

/** A gate whose reservation for the n-th event resolves when the test says so. */
function createGate(asks: (events: number, asked: number) => boolean) {
  const pause = new Pause();
  const passed: (EventContext | "end")[] = [];
  const wanted: number[] = [];
  let answer = (): void => {};
  const gate = new QuotaGate(
    {
      push: (context) => void passed.push(context),
      proceed: () => {},
      flush: () => {},
      end: () => void passed.push("end"),
      fail: () => {},
    },
    {
      reserve: (_presented, events) => {
        wanted.push(events);
        if (!asks(events, wanted.length)) return undefined;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      caps: undefined,
    },
    pause,
  );
  return { gate, pause, passed, wanted, answer: () => answer() };
}

test("an event waits for its reservation, later events wait for it, and all continue in order", async () => {
  const { gate, pause, passed, answer } = createGate((_events, asked) => asked === 2);
  const contexts = [1, 2, 3].map(state);
  for (const context of contexts) gate.push(context);
  expect(passed).toEqual(contexts.slice(0, 1));
  expect(pause.until).toBeInstanceOf(Promise);
  const { until } = pause;
  answer();
  await until;
  expect(pause.until).toBeUndefined();
  gate.proceed();
  expect(passed).toEqual(contexts);
});

test("a resumed event may wait for the next reservation", async () => {
  const { gate, pause, passed, answer } = createGate((_events, asked) => asked !== 2 && asked < 4);
  const contexts = [1, 2].map(state);
  for (const context of contexts) gate.push(context);
  answer();
  await pause.until;
  gate.proceed();
  expect(passed).toEqual(contexts.slice(0, 1));
  answer();
  await pause.until;
  gate.proceed();
  expect(passed).toEqual(contexts);
});

test("the end does not wait: held events are judged with the reservations so far", () => {
  const { gate, passed } = createGate(() => true);
  const contexts = [1, 2].map(state);
  for (const context of contexts) gate.push(context);
  gate.end({});
  expect(passed).toEqual([...contexts, "end"]);
});

test("a list reserves one event for each judged message and call; a synthetic event reserves none", () => {
  const { gate, wanted } = createGate(() => false);
  const call = (id: string) => ({
    id,
    type: "function",
    function: { name: "f", arguments: "{}" },
  });
  const messages = [
    { id: "u", role: "user", content: "hi" },
    { id: "a", role: "assistant", toolCalls: [call("1"), call("2")] },
    { id: "b", role: "assistant", content: "words" },
    { id: "c", role: "reasoning", content: "thoughts" },
  ];
  gate.push(passageOf({ type: "MESSAGES_SNAPSHOT", messages } as AgUiEvent));
  const input = { threadId: "t", runId: "r", messages };
  gate.push(
    passageOf({ type: "RUN_STARTED", threadId: "t", runId: "r", input } as unknown as AgUiEvent),
  );
  gate.push(passageOf({ type: "RUN_STARTED", threadId: "t", runId: "r" } as AgUiEvent));
  const ours = state(1);
  ours.isSynthetic = true;
  gate.push(ours);
  expect(wanted).toEqual([9, 9, 1]);
});

/** A gate over caps that resolve when the test says so. */
function createCapGate() {
  const pause = new Pause();
  const told: string[] = [];
  let answer: (() => void) | undefined;
  let isFull = false;
  const gate = new QuotaGate(
    {
      push: ({ event }) => void told.push(`pass ${event?.type}`),
      proceed: () => {},
      flush: () => {},
      end: () => {},
      fail: () => {},
    },
    {
      reserve: () => undefined,
      caps: {
        reserve: (facts, events) => {
          told.push(`ask ${facts === undefined ? "any" : "one"} ${events}`);
          return isFull
            ? new Promise((resolve) => {
                answer = resolve;
              })
            : undefined;
        },
        release: () => void told.push("release"),
        end: () => {},
      },
    },
    pause,
  );
  const push = (event: object): void => {
    const context = passageOf(event as AgUiEvent);
    context.facts = {} as NonNullable<EventContext["facts"]>;
    gate.push(context);
  };
  return {
    gate,
    push,
    pause,
    told,
    setFull: (full: boolean) => (isFull = full),
    answer: () => answer?.(),
  };
}

test("a new event reserves room under caps, a list reserves it for any kind, and the gate releases the rest after the list", () => {
  const { push, told } = createCapGate();
  push({ type: "TEXT_MESSAGE_START", messageId: "m" });
  push({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" });
  push({ type: "TEXT_MESSAGE_END", messageId: "m" });
  push({ type: "TOOL_CALL_END", toolCallId: "c" });
  push({ type: "MESSAGES_SNAPSHOT", messages: [{ id: "u", role: "user", content: "hi" }] });
  expect(told).toEqual([
    "ask one 1",
    "pass TEXT_MESSAGE_START",
    "pass TEXT_MESSAGE_CONTENT",
    "pass TEXT_MESSAGE_END",
    "ask one 1",
    "pass TOOL_CALL_END",
    "ask any 2",
    "pass MESSAGES_SNAPSHOT",
    "release",
  ]);
});

test("an event waits for room under a cap, and reserves again before it continues", async () => {
  const { gate, push, pause, told, setFull, answer } = createCapGate();
  setFull(true);
  push({ type: "CUSTOM", name: "n", value: 1 });
  setFull(false);
  answer();
  await pause.until;
  gate.proceed();
  expect(told).toEqual(["ask one 1", "ask one 1", "pass CUSTOM"]);
});
