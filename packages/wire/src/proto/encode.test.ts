import { decodeHex, encodeHex, isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import type { AgUiEvent } from "../model/event.js";
import type { ProtoNote } from "./index.js";
import { createProtoDecoder, encodeProto } from "./index.js";

function notesOf(event: unknown): ProtoNote[] {
  const notes: ProtoNote[] = [];
  encodeProto(event as AgUiEvent, { onNote: (note) => notes.push(note) });
  return notes;
}

function refusal(event: unknown): string {
  try {
    encodeProto(event as AgUiEvent);
  } catch (error) {
    if (isCountersignError(error, "ERR_PROTO_UNENCODABLE")) {
      return `${error.facts.path}: ${error.facts.reason}`;
    }
    throw error;
  }
  return "encoded";
}

test("the published vector for RUN_STARTED is written and read", () => {
  const event = {
    type: "RUN_STARTED" as const,
    threadId: "t",
    runId: "r",
    protocolVersion: "1.0",
  };
  const hex = "00000011620f0a02080b1201741a01723203312e30";
  expect(encodeHex(encodeProto(event))).toBe(hex);
  expect(createProtoDecoder().push(decodeHex(hex))).toStrictEqual([event]);
});

test("a missing required member is refused with its path, never written as text", () => {
  expect(refusal({ type: "TEXT_MESSAGE_END" })).toBe("TEXT_MESSAGE_END.messageId: it is required");
  expect(refusal({ type: "STATE_SNAPSHOT" })).toBe("STATE_SNAPSHOT.snapshot: it is required");
  expect(refusal({ type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c" })).toBe(
    "TOOL_CALL_RESULT.content: it is required",
  );
  const messages = [{ id: "1", role: "user" }];
  expect(refusal({ type: "MESSAGES_SNAPSHOT", messages })).toBe(
    "MESSAGES_SNAPSHOT.messages[0].content: it is required",
  );
});

test("a member of the wrong type is refused", () => {
  expect(refusal({ type: "STEP_STARTED", stepName: 7 })).toContain("it is not a string");
  expect(refusal({ type: "STEP_STARTED", stepName: "s", timestamp: 1.5 })).toContain(
    "it is not a safe integer",
  );
  expect(refusal({ type: "STEP_STARTED", stepName: "s", metadata: [] })).toContain(
    "it is not an object",
  );
  expect(refusal({ type: "STATE_DELTA", delta: {} })).toContain("it is not a list");
  expect(refusal({ type: "STATE_DELTA", delta: [{ op: "merge", path: "" }] })).toContain(
    "STATE_DELTA.delta[0].op: it has no number in protobuf",
  );
  expect(
    refusal({ type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: "success" }),
  ).toContain("RUN_FINISHED.outcome: it is not an object");
  expect(
    refusal({
      type: "ACTIVITY_SNAPSHOT",
      messageId: "m",
      activityType: "a",
      content: {},
      replace: 1,
    }),
  ).toContain("it is not a boolean");
  expect(refusal({ type: "NO_SUCH_EVENT" })).toBe("type: the protocol has no such event");
});

test("content in a form that the role does not have is refused", () => {
  const snapshot = (message: object) => refusal({ type: "MESSAGES_SNAPSHOT", messages: [message] });
  expect(snapshot({ id: "1", role: "system", content: [] })).toContain("no content of this form");
  expect(snapshot({ id: "1", role: "user", content: { a: 1 } })).toContain(
    "no content of this form",
  );
  expect(snapshot({ id: "1", role: "activity", activityType: "a", content: "text" })).toContain(
    "no content of this form",
  );
  expect(snapshot({ id: "1", role: "critic", content: "text" })).toContain("no such role");
  expect(snapshot({ id: "1", role: "user", content: [{ type: "smell" }] })).toContain(
    "messages[0].content[0].type: protobuf has no such kind",
  );
});

test("what UTF-8 or JSON cannot hold is refused", () => {
  const snapshot = (value: unknown) => refusal({ type: "STATE_SNAPSHOT", snapshot: value });
  expect(snapshot(Number.NaN)).toContain("finite");
  expect(snapshot([Number.POSITIVE_INFINITY])).toContain("finite");
  expect(snapshot("\ud800")).toContain("lone surrogate");
  expect(snapshot({ "\udc00": 1 })).toContain("lone surrogate");
  expect(snapshot([undefined])).toContain("not a JSON value");
  expect(refusal({ type: "STEP_STARTED", stepName: "a\ud800" })).toContain("lone surrogate");
});

test("a cyclic value is refused at the depth limit", () => {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  expect(refusal({ type: "STATE_SNAPSHOT", snapshot: value })).toContain("nested too deeply");
});

test("a frame at the size limit is written and one over it is refused", () => {
  const event: AgUiEvent = { type: "STEP_STARTED", stepName: "s".repeat(100) };
  const { length } = encodeProto(event);
  expect(encodeProto(event, { limits: { maxFrameBytes: length } })).toHaveLength(length);
  expect(() => encodeProto(event, { limits: { maxFrameBytes: length - 1 } })).toThrow(
    expect.objectContaining({ code: "ERR_LIMIT_EXCEEDED" }),
  );
});

test("what protobuf leaves out is told", () => {
  expect(
    notesOf({ type: "STATE_DELTA", delta: [{ op: "remove", path: "/a", comment: "why" }] }),
  ).toEqual([{ kind: "unknown-member", path: "STATE_DELTA.delta[0].comment" }]);
  expect(notesOf({ type: "RUN_ERROR", message: "m", usage: [] })).toEqual([
    { kind: "empty-list", path: "RUN_ERROR.usage" },
  ]);
  expect(
    notesOf({
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r",
      result: null,
      outcome: { type: "success", pendingToolCallIds: [] },
    }),
  ).toEqual([
    { kind: "null-member", path: "RUN_FINISHED.result" },
    { kind: "empty-list", path: "RUN_FINISHED.pendingToolCallIds" },
  ]);
  expect(
    notesOf({
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "message",
      entityId: "e",
      encryptedValue: "v",
      encryptedValueType: "later",
    }),
  ).toEqual([{ kind: "unknown-member", path: "REASONING_ENCRYPTED_VALUE.encryptedValueType" }]);
});

test("an event that loses nothing gives no note", () => {
  expect(
    notesOf({
      type: "MESSAGES_SNAPSHOT",
      timestamp: 1,
      metadata: {},
      messages: [
        { id: "1", role: "user", content: [{ type: "text", text: "" }] },
        { id: "2", role: "assistant" },
      ],
    }),
  ).toEqual([]);
});

test("an outcome cannot replace a member of its event", () => {
  const outcome = { type: "success", threadId: "other" };
  expect(refusal({ type: "RUN_FINISHED", threadId: "t", runId: "r", outcome })).toBe(
    "RUN_FINISHED.outcome.threadId: the event has it too",
  );
});

test("a refused event, or one encoded from inside a note, leaves no trace in the next", () => {
  const event: AgUiEvent = { type: "STEP_STARTED", stepName: "next" };
  const expected = encodeHex(encodeProto(event));
  expect(
    refusal({ type: "STATE_SNAPSHOT", snapshot: ["long enough to be seen", Number.NaN] }),
  ).toContain("finite");
  expect(encodeHex(encodeProto(event))).toBe(expected);
  const inner: string[] = [];
  const extra = { ...event, extra: 1 } as AgUiEvent;
  const onNote = () => inner.push(encodeHex(encodeProto(event)));
  expect(encodeHex(encodeProto(extra, { onNote }))).toBe(expected);
  expect(inner).toEqual([expected]);
});
