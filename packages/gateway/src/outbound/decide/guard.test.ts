import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { classifyEvent, compilePolicy, loadPolicy } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import { expect, test } from "vitest";
import { Backlog } from "../../event/waits.js";
import { createEventContext } from "../../event/event-context.js";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import { createMemoryRecorder, OPEN_POLICY } from "../../testing/fixture.js";
import { record } from "../record/stage.js";
import { FinalRules } from "./final-rules.js";
import { createGuard } from "./guard.js";
import type { RuleState } from "./rule.js";

/** After withholding, the rest of a stream may be out of order; this stream is so from the start. */
async function recordAll(events: readonly AgUiEvent[]) {
  const recorder = createMemoryRecorder();
  const letOn: EventContext[] = [];
  const run = {
    agent: "support",
    sessionId: "s",
    threadId: "t",
    runId: "r",
    who: {},
    clientDialect: "1.0",
    policy: compilePolicy(loadPolicy(OPEN_POLICY)),
    recorder,
    backlog: new Backlog(),
    sink: { transport: "sse" },
    observer: { recorded: () => {}, failed: () => {}, notes: () => {} },
    mintId: () => `evt_${recorder.drafts.length}`,
    cancel: () => {},
  } as unknown as Run;
  const ended = new Promise<void>((resolve) => {
    const recording = record.open(run, {
      push: (context) => void letOn.push(context),
      proceed: () => {},
      flush: () => {},
      end: () => resolve(),
      fail: () => resolve(),
    });
    const step = new FinalRules({ run, guard: createGuard() } as unknown as RuleState, recording);
    for (const event of events) {
      const context = createEventContext(0);
      context.event = event;
      context.facts = classifyEvent(event);
      context.decision = { allow: true };
      step.push(context);
    }
    step.end({});
  });
  await ended;
  return { drafts: recorder.drafts, contexts: letOn };
}

const START: AgUiEvent = { type: "RUN_STARTED", threadId: "t", runId: "r" };

test("an event on which the client would throw is recorded as blocked, and no later event is recorded", async () => {
  const { drafts, contexts } = await recordAll([
    START,
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" },
    { type: "RUN_FINISHED", threadId: "t", runId: "r" },
  ]);
  expect(drafts.map(({ receipt }) => receipt.allowed)).toEqual([true, false]);
  expect(drafts[1]?.rule).toBe("gateway/unsound");
  expect(contexts.at(-1)?.decision).toMatchObject({ allow: false, onBlock: "end" });
});

test("the hash of the sent event excludes the parts that the guard removes", async () => {
  const { drafts, contexts } = await recordAll([
    START,
    { type: "TEXT_MESSAGE_START", messageId: "m", subagentRunId: "one" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x", subagentRunId: "two" },
  ]);
  const left = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" };
  expect(contexts[2]?.emitted).toEqual(left);
  expect(contexts[2]?.text).toBe(canonicalJson(left as JsonValue));
  expect(drafts[2]?.emitted_hash).toBe(sha256Hex(canonicalJson(left as JsonValue)));
  expect(drafts[1]?.emitted_hash).toBeUndefined();
});
