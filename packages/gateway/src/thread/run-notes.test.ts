import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { expect, test } from "vitest";
import { RunTrace } from "./run-trace.js";
import { shownThread, stateOf } from "./thread-state.js";

/** A message list with this many messages of the person. */
function listOf(count: number): AgUiEvent {
  const messages = Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    role: "user" as const,
    content: "hello",
  }));
  return { type: "MESSAGES_SNAPSHOT", messages } as AgUiEvent;
}

test.each([1, 2, 12, 100])(
  "a client without an input has %d messages, and a later list leaves them out: they stay known as the person's",
  (count) => {
    const input = { threadId: "t", runId: "r", messages: [] } as unknown as RunAgentInput;
    const state = shownThread(stateOf([]));
    const trace = new RunTrace(input, state);
    trace.see({ type: "RUN_STARTED", threadId: "t", runId: "r" } as AgUiEvent);
    trace.see(listOf(count));
    trace.take();
    const next = new RunTrace({ ...input, runId: "r2" }, shownThread(state));
    next.see({ type: "RUN_STARTED", threadId: "t", runId: "r2" } as AgUiEvent);
    next.see(listOf(0));
    next.see({ type: "RUN_FINISHED", threadId: "t", runId: "r2" } as AgUiEvent);
    next.take();
    expect([...state.shown.values()].map(({ role }) => role)).toEqual(Array(count).fill("user"));
  },
);
