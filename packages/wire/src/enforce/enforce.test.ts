import { expect, test } from "vitest";
import { isCountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { MAX_NAME_LENGTH, MAX_NOTES, enforceEvent, enforceInput } from "./index.js";

const TEXT = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "d" };
const FINISHED = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const INPUT = { threadId: "t", runId: "r", messages: [] };

function fatalPath(value: JsonValue): string {
  try {
    enforceEvent(value);
  } catch (error) {
    if (isCountersignError(error, "ERR_ENFORCE_MALFORMED_VALUE")) return error.facts.path;
    throw error;
  }
  return "accepted";
}

function enforced(value: JsonValue): { event: JsonValue; notes: string[] } {
  const { event, notes } = enforceEvent(value);
  return {
    event: event as unknown as JsonValue,
    notes: notes.map((note) => `${note.kind} ${note.path}`),
  };
}

test("a value that is not an object with a type is refused", () => {
  const values: JsonValue[] = [null, 1, "x", [], {}, { type: 1 }, { type: "" }, { type: null }];
  for (const value of values) {
    expect(() => enforceEvent(value)).toThrow(
      expect.objectContaining({ code: "ERR_ENFORCE_NOT_AN_EVENT" }),
    );
  }
});

test("an unknown event type is dropped with a bounded note", () => {
  const type = "X".repeat(10_000);
  const { event, notes } = enforceEvent({ type, anything: [null] });
  expect(event).toBeUndefined();
  expect(notes).toEqual([
    { kind: "unknownEvent", path: "", type: `${"X".repeat(MAX_NAME_LENGTH)}…` },
  ]);
});

test("names of Object.prototype are unknown event types and unknown keys", () => {
  expect(enforceEvent({ type: "toString" }).event).toBeUndefined();
  const value = JSON.parse(
    '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","__proto__":{"role":"x"},"toString":1}',
  ) as JsonObject;
  expect(enforced(value)).toEqual({
    event: TEXT,
    notes: ["unknownProperty /__proto__", "unknownProperty /toString"],
  });
});

test("an unknown key is noted under its escaped pointer", () => {
  expect(enforced({ ...TEXT, "a/b~c": 1 }).notes).toEqual(["unknownProperty /a~1b~0c"]);
});

test("a field is not supplied by a polluted prototype", () => {
  const polluted = Object.prototype as unknown as JsonObject;
  polluted["delta"] = "inherited";
  try {
    expect(fatalPath({ type: "TEXT_MESSAGE_CONTENT", messageId: "m" })).toBe("/delta");
  } finally {
    delete polluted["delta"];
  }
});

test("an unknown outcome is removed and reported, because it then reads as success", () => {
  expect(enforced({ ...FINISHED, outcome: { type: "future", interrupts: 1 } })).toEqual({
    event: FINISHED,
    notes: ["unknownMember /outcome"],
  });
});

test("a non-object where a union member belongs is fatal", () => {
  for (const outcome of [[], 1, "success", true]) {
    expect(fatalPath({ ...FINISHED, outcome })).toBe("/outcome");
  }
});

test("a media part of an unknown source goes whole, whatever else is wrong inside it", () => {
  const content = [
    { type: "image", id: 5, extra: 1, source: { type: "hologram" } },
    { type: "text", text: "kept" },
  ];
  const event = { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content };
  expect(enforced(event)).toEqual({
    event: { ...event, content: [{ type: "text", text: "kept" }] },
    notes: ["unknownMember /content/0"],
  });
});

test("nulls the protocol forgives become absent, every other null is fatal", () => {
  expect(enforced({ ...FINISHED, result: null, outcome: null, rawEvent: null })).toEqual({
    event: FINISHED,
    notes: ["nullOmitted /result", "nullOmitted /outcome", "nullOmitted /rawEvent"],
  });
  for (const field of ["timestamp", "metadata", "usage", "runId"]) {
    expect(fatalPath({ ...FINISHED, [field]: null })).toBe(`/${field}`);
  }
  expect(fatalPath({ type: "STATE_SNAPSHOT", snapshot: null })).toBe("accepted");
});

test("a null metadata of a media part is forgiven in a message but not in a tool result", () => {
  const part = { type: "image", source: { type: "url", value: "u" }, metadata: null };
  const message = { id: "1", role: "user", content: [part] };
  expect(enforced({ type: "MESSAGES_SNAPSHOT", messages: [message] }).notes).toEqual([
    "nullOmitted /messages/0/content/0/metadata",
  ]);
  const result = { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content: [part] };
  expect(fatalPath(result)).toBe("/content/0/metadata");
});

test("an unknown patch operation is dropped, a malformed one is fatal, extra members are data", () => {
  const delta = [{ op: "merge" }, { op: "remove", path: "/a", value: 1 }];
  expect(enforced({ type: "STATE_DELTA", delta })).toEqual({
    event: { type: "STATE_DELTA", delta: [{ op: "remove", path: "/a", value: 1 }] },
    notes: ["unknownMember /delta/0"],
  });
  const broken: JsonObject[] = [
    { op: "add", path: "/a" },
    { op: "add", path: "a", value: 1 },
    { op: "remove", path: "/~" },
    { op: "remove", path: "/~2" },
    { op: "move", path: "/a" },
    { op: "copy", path: "/a", from: null },
  ];
  for (const operation of broken) {
    expect(fatalPath({ type: "STATE_DELTA", delta: [operation] })).toMatch(/^\/delta\/0\//);
  }
});

test("a member named __proto__ of a patch operation stays plain data", () => {
  const text =
    '{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a","__proto__":{"b":1}}],"x":1}';
  const { event } = enforceEvent(JSON.parse(text) as JsonObject);
  expect(JSON.stringify(event)).toBe(text.replace(',"x":1', ""));
  const smuggled = '{"type":"STATE_DELTA","delta":[{"op":"remove","__proto__":{"path":"/a"}}]}';
  expect(fatalPath(JSON.parse(smuggled) as JsonObject)).toBe("/delta/0/path");
});

test("a pointer of a million escapes is judged in time and without overflow", () => {
  const path = "/~1".repeat(1_000_000);
  expect(fatalPath({ type: "STATE_DELTA", delta: [{ op: "remove", path }] })).toBe("accepted");
});

test("numbers: timestamps are safe integers, token counts are also not negative", () => {
  for (const timestamp of [1.5, 2 ** 53, "1", true]) {
    expect(fatalPath({ ...TEXT, timestamp })).toBe("/timestamp");
  }
  expect(fatalPath({ ...TEXT, timestamp: -1 })).toBe("accepted");
  for (const inputTokens of [-1, 0.5, 2 ** 53]) {
    expect(fatalPath({ ...FINISHED, usage: [{ inputTokens }] })).toBe("/usage/0/inputTokens");
  }
});

test("an interrupt outcome needs at least one interrupt", () => {
  expect(fatalPath({ ...FINISHED, outcome: { type: "interrupt", interrupts: [] } })).toBe(
    "/outcome/interrupts",
  );
});

test("what lies inside open objects is kept, nulls and odd names included", () => {
  const open = { a: null, toString: { b: [null] } };
  const event = { type: "CUSTOM", name: "n", value: open, metadata: open, rawEvent: open };
  expect(enforceEvent(event).event).toBe(event);
});

test("notes are bounded: at the limit, one over, far over", () => {
  const withUnknown = (count: number): JsonObject => ({
    ...TEXT,
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1])),
  });
  expect(enforceEvent(withUnknown(MAX_NOTES)).notes).toHaveLength(MAX_NOTES);
  expect(enforceEvent(withUnknown(MAX_NOTES + 1)).notes.at(-1)).toEqual({
    kind: "notesOmitted",
    path: "",
    count: 1,
  });
  expect(enforceEvent(withUnknown(10_000)).notes).toHaveLength(MAX_NOTES + 1);
});

test("a message of an error names the place but never the value", () => {
  const error = (() => {
    try {
      enforceEvent({ ...TEXT, delta: ["secret prompt"] });
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(JSON.stringify(error)).toBe(
    '{"code":"ERR_ENFORCE_MALFORMED_VALUE","message":"Malformed TEXT_MESSAGE_CONTENT at /delta: expected a string, found array","facts":{"subject":"TEXT_MESSAGE_CONTENT","path":"/delta","expected":"a string","found":"array"}}',
  );
});

test("an input keeps absent tools and context absent, and reads a null state as absent", () => {
  expect(enforceInput({ ...INPUT, state: null, forwardedProps: null })).toEqual({
    input: INPUT,
    notes: [
      { kind: "nullOmitted", path: "/state" },
      { kind: "nullOmitted", path: "/forwardedProps" },
    ],
  });
  expect(() => enforceInput({ ...INPUT, tools: null })).toThrow(/RunAgentInput at \/tools/);
  expect(() => enforceInput([])).toThrow(/Malformed RunAgentInput: expected an object/);
});

test("forwardedProps passes untouched", () => {
  const input = { ...INPUT, forwardedProps: { a: [null, { toString: 1 }] } };
  expect(enforceInput(input).input).toBe(input);
});
