import type { AgUiEvent } from "@countersign/wire";
import { expect, test } from "vitest";
import { runOf, textOf } from "../testing/harness.js";
import { createLifecycle } from "./lifecycle.js";

const { started, finished } = runOf(1);
const input = { threadId: "thread", runId: "run-1", messages: [] };
const failed = { type: "RUN_ERROR", message: "m" };
const [opened] = textOf("a", "x");

/** Pushes all events to a strict reader; the last one may throw. */
function push(...events: unknown[]): ReturnType<typeof createLifecycle> {
  const life = createLifecycle(input, true);
  for (const event of events) life.push(event as AgUiEvent);
  return life;
}

test.each([
  ["run/first-event", [opened]],
  ["run/first-event", [finished]],
  ["run/nested-start", [started, started]],
  ["run/thread-of-input", [{ ...started, threadId: "another" }]],
  ["run/finish-ids", [started, { ...finished, runId: "another" }]],
  ["run/finish-ids", [started, { ...finished, threadId: "another" }]],
  ["run/after-finish", [started, finished, opened]],
  ["run/after-finish", [started, finished, finished]],
  ["run/after-error", [started, failed, opened]],
  ["run/after-error", [started, failed, finished]],
  ["run/after-error", [failed, failed]],
])("%s is broken by the last of these events, and it is told which: %j", (rule, events) => {
  expect(push(...events.slice(0, -1)).events).toBe(events.length - 1);
  expect(() => push(...events)).toThrow(
    expect.objectContaining({
      code: "ERR_CLIENT_ORDER",
      facts: { rule, eventNumber: events.length },
    }),
  );
});

test("a finish under another run id ends the run with a note unless the reader is strict", () => {
  const life = createLifecycle(input);
  expect(life.push(started as AgUiEvent)).toBeUndefined();
  expect(life.push({ ...finished, runId: "another" } as AgUiEvent)).toEqual({
    kind: "finishedUnderAnotherId",
    path: "/runId",
  });
  expect(life.over).toBe(true);
  const other = createLifecycle(input);
  other.push(started as AgUiEvent);
  expect(() => other.push({ ...finished, threadId: "another" } as AgUiEvent)).toThrow(
    expect.objectContaining({ facts: { rule: "run/finish-ids", eventNumber: 2 } }),
  );
});

test("a stream with one whole run under another id was that run, unless the reader is strict", () => {
  const old = { ...started, runId: "old" };
  const end = { ...finished, runId: "old" };
  const ended = (strict: boolean, ...events: object[]): boolean => {
    const life = createLifecycle(input, strict);
    for (const event of events) life.push(event as AgUiEvent);
    life.end();
    return life.over;
  };
  expect(ended(false, old, end)).toBe(true);
  expect(ended(false, old, failed)).toBe(true);
  expect(ended(true, old, end)).toBe(false);
  expect(ended(false, old)).toBe(false);
  expect(ended(false)).toBe(false);
  expect(ended(false, old, end, { ...started, runId: "older" })).toBe(false);
});

test("only the end of the run that was asked for, or an error before any, is the end", () => {
  const old = { ...started, runId: "old" };
  expect(push(old, { ...finished, runId: "old" }).over).toBe(false);
  expect(push(old, failed).over).toBe(false);
  expect(push(old, failed, started).over).toBe(false);
  expect(push(started, finished).over).toBe(true);
  expect(push(started, failed).over).toBe(true);
  expect(push(failed).over).toBe(true);
  expect(push(started, finished, failed).over).toBe(true);
});
