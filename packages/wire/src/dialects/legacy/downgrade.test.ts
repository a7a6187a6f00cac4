import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import { createChunkExpander } from "../../chunks/index.js";
import type { AgUiEvent } from "../../model/event.js";
import { generateStream } from "../../testing/streams.js";
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

test("the steps that are remembered for 0.0.55 are bounded", () => {
  const steps = (count: number): AgUiEvent[] =>
    Array.from({ length: count }, (_, index) => ({ type: "STEP_STARTED", stepName: `s${index}` }));
  expect(downgrade("0.0.55", steps(1024)).events).toHaveLength(1024);
  expect(() => downgrade("0.0.55", steps(1025))).toThrow("dialects.maxOpenUnits");
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

/** The fields that distinguish events for a reader, after the one permitted change of form. */
function identity(event: Readonly<Record<string, unknown>>): string {
  const outcome = event["outcome"] as { type?: string } | undefined;
  const type = outcome?.type === "cancelled" ? "RUN_ERROR" : String(event["type"]);
  const id = type === "RUN_ERROR" ? "" : (event["runId"] ?? event["stepName"]);
  return JSON.stringify([type, id, event["messageId"], event["toolCallId"], event["delta"]]);
}

function expand(events: readonly AgUiEvent[]): AgUiEvent[] | undefined {
  const expander = createChunkExpander();
  try {
    return events.flatMap((event) => expander.push(event));
  } catch (error) {
    if (isCountersignError(error)) return undefined;
    throw error;
  }
}

test.each(["0.0.55", "0.0.59"] as const)(
  "for %s ids and order stay, and every event that is missing has its note",
  (target) => {
    for (let seed = 1; seed <= 200; seed++) {
      const expanded = expand(generateStream(seed).events);
      if (expanded === undefined) continue;
      const { events, rules } = downgrade(target, expanded);
      const rest = expanded.map((event) => identity(event));
      for (const written of events) {
        const at = rest.indexOf(identity(written));
        expect(at, `seed ${seed}`).toBeGreaterThanOrEqual(0);
        rest.splice(0, at + 1);
      }
      const drops = rules.filter((rule) => /^(?:event|step|after-error)-dropped/u.test(rule));
      expect(drops, `seed ${seed}`).toHaveLength(expanded.length - events.length);
    }
  },
);
