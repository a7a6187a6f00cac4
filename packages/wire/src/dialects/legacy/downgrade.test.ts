import { expect, test } from "vitest";
import type { AgUiEvent } from "../../model/event.js";
import { createDowngrader } from "../index.js";
import type { LegacyTarget } from "../index.js";

const STARTED: AgUiEvent = { type: "RUN_STARTED", threadId: "t", runId: "r" };

function downgrade(target: LegacyTarget, events: readonly AgUiEvent[]) {
  const downgrader = createDowngrader(target);
  const results = events.map((event) => downgrader.push(event));
  return {
    events: results.flatMap((result) => result.events),
    rules: results.flatMap(({ notes }) => notes.map(({ rule, path }) => `${rule} ${path}`.trim())),
  };
}

test.each(["0.0.55", "0.0.59"] as const)(
  "for %s a cancelled run is an error under a code of its own, never success",
  (target) => {
    const { events, rules } = downgrade(target, [
      {
        type: "RUN_FINISHED",
        threadId: "t",
        runId: "r",
        timestamp: 5,
        outcome: { type: "cancelled" },
        usage: [{ inputTokens: 1 }],
      },
    ]);
    expect(events).toEqual([
      {
        type: "RUN_ERROR",
        timestamp: 5,
        message: "The run was cancelled.",
        code: "RUN_CANCELLED",
        usage: [{ inputTokens: 1 }],
      },
    ]);
    expect(rules).toEqual(["outcome-is-error /outcome"]);
  },
);

test("a late error after a cancelled run would be a second error and is dropped", () => {
  const { events, rules } = downgrade("0.0.59", [
    { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "cancelled" } },
    { type: "RUN_ERROR", message: "late" },
    STARTED,
  ]);
  expect(events.map(({ type }) => type)).toEqual(["RUN_ERROR", "RUN_STARTED"]);
  expect(rules).toContain("after-error-dropped");
});

test("0.0.55 sees nothing after an error, 0.0.59 sees the next run", () => {
  const stream: AgUiEvent[] = [STARTED, { type: "RUN_ERROR", message: "m" }, STARTED];
  expect(downgrade("0.0.59", stream)).toEqual({ events: stream, rules: [] });
  expect(downgrade("0.0.55", stream)).toEqual({
    events: stream.slice(0, 2),
    rules: ["after-error-dropped"],
  });
});

test("subagent events are dropped for 0.0.55 alone", () => {
  const stream: AgUiEvent[] = [
    { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "n" },
    { type: "SUBAGENT_ERROR", subagentRunId: "s", message: "m" },
    { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
  ];
  expect(downgrade("0.0.59", stream)).toEqual({ events: stream, rules: [] });
  expect(downgrade("0.0.55", stream)).toEqual({
    events: [],
    rules: ["event-dropped", "event-dropped", "event-dropped"],
  });
});

test("a step that shares its name with an open one is kept from 0.0.55, start and finish", () => {
  const stream: AgUiEvent[] = [
    { type: "STEP_STARTED", stepName: "a" },
    { type: "STEP_STARTED", stepName: "a", subagentRunId: "s" },
    { type: "STEP_FINISHED", stepName: "a" },
    { type: "STEP_FINISHED", stepName: "a", subagentRunId: "s" },
  ];
  expect(downgrade("0.0.59", stream).events).toEqual(stream);
  expect(downgrade("0.0.55", stream)).toEqual({
    events: [stream[0], stream[2]],
    rules: ["step-dropped", "step-dropped"],
  });
});

test.each(["0.0.55", "0.0.59"] as const)(
  "for %s pending calls leave the outcome, and an interrupt stays as it is",
  (target) => {
    const finished = { type: "RUN_FINISHED", threadId: "t", runId: "r" } as const;
    const interrupted: AgUiEvent = {
      ...finished,
      outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "confirmation" }] },
    };
    expect(
      downgrade(target, [
        { ...finished, outcome: { type: "success", pendingToolCallIds: ["c"] } },
        interrupted,
      ]),
    ).toEqual({
      events: [{ ...finished, outcome: { type: "success" } }, interrupted],
      rules: ["field-dropped /outcome/pendingToolCallIds"],
    });
  },
);

test("parts become text without placeholders and file handles leave, each with its place", () => {
  const file = { type: "image", source: { type: "file", value: "f" } } as const;
  const url = { type: "image", source: { type: "url", value: "u" } } as const;
  const { events, rules } = downgrade("0.0.59", [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        { id: "u", role: "user", content: [file, url, { type: "text", text: "t" }] },
        { id: "t", role: "tool", toolCallId: "c", content: [{ type: "text", text: "a" }, url] },
      ],
    },
    {
      ...STARTED,
      input: { threadId: "t", runId: "r", messages: [{ id: "u", role: "user", content: [file] }] },
    } as AgUiEvent,
  ]);
  expect(events).toEqual([
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        { id: "u", role: "user", content: [url, { type: "text", text: "t" }] },
        { id: "t", role: "tool", toolCallId: "c", content: "a" },
      ],
    },
    {
      ...STARTED,
      input: {
        threadId: "t",
        runId: "r",
        messages: [{ id: "u", role: "user", content: [] }],
        tools: [],
        context: [],
      },
    },
  ]);
  expect(rules).toEqual([
    "part-removed /messages/0/content/0",
    "parts-flattened /messages/1/content",
    "part-removed /input/messages/0/content/0",
  ]);
});

test("a null state snapshot passes with the note that the client ignores it", () => {
  expect(downgrade("0.0.55", [{ type: "STATE_SNAPSHOT", snapshot: null }])).toEqual({
    events: [{ type: "STATE_SNAPSHOT", snapshot: null }],
    rules: ["null-snapshot-ignored /snapshot"],
  });
});

test("a target that does not exist is the caller's mistake", () => {
  expect(() => createDowngrader("0.0.1" as LegacyTarget)).toThrow(TypeError);
});

test("for 1.0 every event passes as it is, chunks included", () => {
  const downgrader = createDowngrader("1.0");
  const chunk: AgUiEvent = { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "d" };
  expect(downgrader.push(chunk)).toEqual({ events: [chunk], notes: [] });
  expect(downgrader.end()).toEqual({ events: [], notes: [] });
});
