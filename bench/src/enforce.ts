/** `@countersign/wire/enforce` beside the validators of `@ag-ui/core/schemas`, on the same events. */
import { enforceEvents } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { EventSchemas } from "@ag-ui/core/schemas";
import { from } from "rxjs";
import type { OperatorFunction } from "rxjs";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { enforceEvent } from "@countersign/wire/enforce";
import { compare, report } from "./harness.js";
import type { Case } from "./harness.js";

/** A turn as agents send it: mostly text and argument deltas, some of everything else. */
function turn(number: number): AgUiEvent[] {
  const ids = { threadId: "thread-1", runId: `run-${number}` };
  const messageId = `message-${number}`;
  const toolCallId = `call-${number}`;
  const timestamp = 1_790_000_000_000 + number;
  const events: AgUiEvent[] = [
    { type: "RUN_STARTED", ...ids, protocolVersion: "1.0", timestamp },
    { type: "STATE_SNAPSHOT", snapshot: { step: number, open: true } },
    { type: "STEP_STARTED", stepName: "answer" },
    { type: "REASONING_START", messageId: `${messageId}-r` },
    { type: "REASONING_MESSAGE_START", messageId: `${messageId}-r`, role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: `${messageId}-r`, delta: "Let me see" },
    { type: "REASONING_MESSAGE_END", messageId: `${messageId}-r` },
    { type: "REASONING_END", messageId: `${messageId}-r` },
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant", timestamp },
  ];
  for (let index = 0; index < 60; index++) {
    const delta = ` token${index}`;
    events.push(
      index % 3 === 0
        ? { type: "TEXT_MESSAGE_CONTENT", messageId, delta, timestamp: timestamp + index }
        : { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
    );
  }
  events.push(
    { type: "TEXT_MESSAGE_END", messageId },
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "search", parentMessageId: messageId },
  );
  for (let index = 0; index < 12; index++) {
    events.push({ type: "TOOL_CALL_ARGS", toolCallId, delta: `"k${index}":${index},` });
  }
  events.push(
    { type: "TOOL_CALL_END", toolCallId },
    { type: "TOOL_CALL_RESULT", messageId: `${messageId}-t`, toolCallId, content: "found" },
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/step", value: number + 1 }] },
    { type: "ACTIVITY_SNAPSHOT", messageId: "plan", activityType: "PLAN", content: { steps: [1] } },
    { type: "CUSTOM", name: "vendor:progress", value: { done: 0.5 } },
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        { id: "u", role: "user", content: [{ type: "text", text: "hello" }] },
        {
          id: messageId,
          role: "assistant",
          content: "token",
          toolCalls: [
            { id: toolCallId, type: "function", function: { name: "search", arguments: "{}" } },
          ],
        },
        { id: `${messageId}-t`, role: "tool", toolCallId, content: "found" },
      ],
    },
    { type: "STEP_FINISHED", stepName: "answer" },
    { type: "RUN_FINISHED", ...ids, outcome: { type: "success" }, usage: [{ inputTokens: 12 }] },
  );
  return events;
}

const turns = Array.from({ length: 20 }, (_, number) => turn(number)).flat();
const mixed = turns.map((event) => JSON.stringify(event));
const deltas = mixed.filter((line) => line.includes('"TEXT_MESSAGE_CONTENT"'));
const untidy = turns.map((event) => JSON.stringify({ ...event, vendorExtra: 1 }));

function parsed(lines: readonly string[]): () => JsonValue[] {
  return () => {
    const values: JsonValue[] = [];
    for (let copy = 0; copy < 10; copy++) {
      for (const line of lines) values.push(JSON.parse(line) as JsonValue);
    }
    return values;
  };
}

/** The client has its own rxjs, whose types are nominally different. */
function officialStage(): OperatorFunction<BaseEvent, BaseEvent> {
  return enforceEvents() as unknown as OperatorFunction<BaseEvent, BaseEvent>;
}

function variants(lines: readonly string[]): Case<JsonValue[]>[] {
  const prepare = parsed(lines);
  return [
    {
      name: "EventSchemas.parse (@ag-ui/core 1.0.0)",
      prepare,
      run: (values) => {
        for (const value of values) EventSchemas.parse(value);
        return values.length;
      },
    },
    {
      name: "enforceEvents (@ag-ui/client 1.0.0)",
      prepare,
      run: (values) => {
        let passed = 0;
        from(values as unknown as BaseEvent[])
          .pipe(officialStage())
          .subscribe(() => passed++);
        return passed;
      },
    },
    {
      name: "enforceEvent (countersign)",
      prepare,
      run: (values) => {
        let passed = 0;
        for (const value of values) if (enforceEvent(value).event !== undefined) passed++;
        return passed;
      },
    },
  ];
}

// The official stage prints one line per removal; printing is not measured.
process.env["SUPPRESS_TRANSFORMATION_WARNINGS"] = "true";
const options = { rounds: 60, warmup: 10 };
report("enforce", "Enforcement beside the official validators", {
  "A mixed stream": compare(variants(mixed), options),
  "Text deltas only": compare(variants(deltas), options),
  "A mixed stream with one unknown property on each event (the schemas alone keep it)": compare(
    variants(untidy),
    options,
  ),
});
