import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { concatBytes, isCountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import type { ProtoNote } from "./index.js";
import { createProtoDecoder } from "./index.js";

/** A length-delimited field. */
function field(number: number, ...parts: Uint8Array[]): Uint8Array {
  return new BinaryWriter()
    .uint32(number * 8 + 2)
    .bytes(concatBytes(...parts))
    .finish();
}
function text(number: number, value: string): Uint8Array {
  return field(number, new TextEncoder().encode(value));
}
function varint(number: number, value: number): Uint8Array {
  return new BinaryWriter()
    .uint32(number * 8)
    .int64(value)
    .finish();
}
function double(number: number, value: number): Uint8Array {
  return new BinaryWriter()
    .uint32(number * 8 + 1)
    .double(value)
    .finish();
}
const base = (type: number, ...more: Uint8Array[]) => field(1, varint(1, type), ...more);

function read(...envelope: Uint8Array[]): JsonObject | undefined {
  return readWithNotes(...envelope).event;
}

function readWithNotes(...envelope: Uint8Array[]): {
  event: JsonObject | undefined;
  notes: ProtoNote[];
} {
  const body = concatBytes(...envelope);
  const header = new Uint8Array(4);
  new DataView(header.buffer).setUint32(0, body.length);
  const notes: ProtoNote[] = [];
  const decoder = createProtoDecoder({}, { onNote: (note) => notes.push(note) });
  return { event: decoder.push(concatBytes(header, body))[0], notes };
}

function failure(...envelope: Uint8Array[]): unknown {
  try {
    return read(...envelope);
  } catch (error) {
    return isCountersignError(error) ? { code: error.code, ...error.facts } : error;
  }
}

const STEP = field(15, base(14), text(2, "s"));
const snapshot = (...value: Uint8Array[]) => field(7, base(6), field(2, ...value));

test("two different events in one envelope are refused at the second", () => {
  const other = field(16, base(15), text(2, "s"));
  expect(failure(STEP, other)).toEqual({
    code: "ERR_PROTO_SEVERAL_ARMS",
    message: "Event",
    offset: 4 + STEP.length,
  });
});

test("an event without a base event, or with another type in it, is refused", () => {
  expect(failure(field(15, text(2, "s")))).toEqual({
    code: "ERR_PROTO_BASE_MISSING",
    eventType: "STEP_STARTED",
    offset: 4,
  });
  expect(failure(field(15, base(15), text(2, "s")))).toEqual({
    code: "ERR_PROTO_TYPE_MISMATCH",
    eventType: "STEP_STARTED",
    declared: "STEP_FINISHED",
    offset: 4,
  });
  expect(failure(field(15, base(99), text(2, "s")))).toMatchObject({ declared: "99" });
});

test("an arm repeated merges: scalars are replaced, lists grow, objects merge", () => {
  const member = (key: string, value: string) => field(1, text(1, key), field(2, text(3, value)));
  const metadata = (...entries: Uint8Array[]) => field(4, ...entries);
  expect(
    read(
      field(8, base(7, metadata(member("a", "1"), member("b", "1"))), field(2, text(2, "/a"))),
      field(8, base(7, varint(2, 5), metadata(member("b", "2"))), field(2, varint(1, 1))),
    ),
  ).toStrictEqual({
    type: "STATE_DELTA",
    delta: [
      { op: "add", path: "/a" },
      { op: "remove", path: "" },
    ],
    timestamp: 5,
    metadata: { a: "1", b: "2" },
  });
});

test("the last kind of a value counts, and a list repeated grows", () => {
  const list = (value: string) => field(6, field(1, text(3, value)));
  expect(read(snapshot(text(3, "first"), double(2, 7)))?.["snapshot"]).toBe(7);
  expect(read(snapshot(list("a"), list("b")))?.["snapshot"]).toEqual(["a", "b"]);
  expect(read(snapshot(list("a"), varint(1, 0), list("b")))?.["snapshot"]).toEqual(["b"]);
});

test("a value that is not a JSON value is refused with the reason", () => {
  const reason = (...value: Uint8Array[]) => failure(snapshot(...value));
  const member = field(1, text(1, "k"), field(2, text(3, "v")));
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    expect(reason(double(2, number))).toMatchObject({
      code: "ERR_PROTO_VALUE",
      reason: "not-finite",
    });
  }
  expect(reason()).toMatchObject({ code: "ERR_PROTO_VALUE", reason: "no-kind" });
  expect(reason(field(6, field(1)))).toMatchObject({ reason: "no-kind" });
  expect(reason(field(5, field(1, text(1, "k"))))).toMatchObject({ reason: "no-kind" });
  expect(reason(field(5, member, member))).toMatchObject({ reason: "duplicate-key" });
});

test("the key __proto__ is a member like any other", () => {
  const event = read(snapshot(field(5, field(1, text(1, "__proto__"), field(2, text(3, "v"))))));
  const object = event?.["snapshot"] as JsonObject;
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  expect(Object.entries(object)).toEqual([["__proto__", "v"]]);
});

test("a text loses one byte order mark, and bytes that are not UTF-8 are refused", () => {
  expect(read(field(15, base(14), text(2, "\ufeffs")))?.["stepName"]).toBe("s");
  expect(read(field(15, base(14), text(2, "\ufeff\ufeffs")))?.["stepName"]).toBe("\ufeffs");
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
    expect(failure(field(15, base(14), field(2, Uint8Array.from(bytes))))).toMatchObject({
      code: "ERR_PROTO_INVALID_UTF8",
    });
  }
});

test("a timestamp beyond the exact integers is refused, one at the edge passes", () => {
  const at = (value: bigint) => {
    const timestamp = new BinaryWriter().uint32(16).int64(value).finish();
    return failure(field(15, base(14, timestamp), text(2, "s")));
  };
  expect(at(2n ** 53n - 1n)).toMatchObject({ timestamp: Number.MAX_SAFE_INTEGER });
  expect(at(1n - 2n ** 53n)).toMatchObject({ timestamp: Number.MIN_SAFE_INTEGER });
  for (const value of [2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n]) {
    expect(at(value)).toMatchObject({ code: "ERR_PROTO_UNSAFE_INTEGER", field: "timestamp" });
  }
});

test("field number 0 is refused wherever it stands", () => {
  const zero = Uint8Array.of(0x02, 0x00);
  expect(failure(zero)).toMatchObject({ code: "ERR_PROTO_MALFORMED", offset: 5 });
  expect(failure(STEP, zero)).toMatchObject({ code: "ERR_PROTO_MALFORMED" });
  expect(failure(field(15, base(14), zero))).toMatchObject({ code: "ERR_PROTO_MALFORMED" });
  expect(failure(snapshot(zero))).toMatchObject({ code: "ERR_PROTO_MALFORMED" });
});

test("a field that passes its container is refused", () => {
  // The inner string claims 100 bytes; the envelope has them, its own message does not.
  const inner = concatBytes(base(14), Uint8Array.of(0x12, 100));
  expect(failure(field(15, inner), field(99, new Uint8Array(200)))).toMatchObject({
    code: "ERR_PROTO_MALFORMED",
  });
});

test("a known field under a foreign wire type is refused by name", () => {
  expect(failure(field(15, base(14), varint(2, 1)))).toMatchObject({
    code: "ERR_PROTO_WIRE_TYPE",
    message: "StepStartedEvent",
    field: 2,
  });
  expect(failure(varint(15, 1))).toMatchObject({ code: "ERR_PROTO_WIRE_TYPE", message: "Event" });
  expect(failure(snapshot(varint(3, 1)))).toMatchObject({ message: "google.protobuf.Value" });
});

test("an envelope of a later event is dropped with a note, an envelope of nothing is refused", () => {
  expect(readWithNotes(field(40, base(31), text(2, "x")))).toEqual({
    event: undefined,
    notes: [{ kind: "future-event", offset: 4, field: 40 }],
  });
  expect(failure(varint(40, 1))).toEqual({ code: "ERR_PROTO_NO_EVENT", offset: 4 });
  expect(failure(field(40, Uint8Array.of(0xff)))).toMatchObject({ code: "ERR_PROTO_NO_EVENT" });
});

test("an unknown field beside known ones is dropped with a note that names it", () => {
  expect(readWithNotes(field(15, base(14), text(2, "s"), text(9, "later")), varint(50, 1))).toEqual(
    {
      event: { type: "STEP_STARTED", stepName: "s" },
      notes: [
        { kind: "unknown-field", offset: 4 + 2 + 4 + 3, message: "StepStartedEvent", field: 9 },
        { kind: "unknown-field", offset: 4, message: "Event", field: 50 },
      ],
    },
  );
});

const message = (role: string, ...more: Uint8Array[]) =>
  field(9, base(8), field(2, text(1, "id"), text(2, role), ...more));
const textPart = field(8, field(1, text(1, "hello")));

test("content in two fields, or in one that the role does not use, is refused", () => {
  const object = field(13);
  const refused = [
    message("user", text(3, "a"), textPart),
    message("system", textPart),
    message("user", object),
    message("activity", text(3, "a")),
    message("later-role", text(3, "a"), textPart),
    field(
      22,
      base(21),
      text(3, "m"),
      text(4, "c"),
      text(5, "text"),
      field(7, field(1, text(1, "part"))),
    ),
  ];
  for (const envelope of refused) {
    expect(failure(envelope)).toMatchObject({ code: "ERR_PROTO_CONTENT_CARRIER", offset: 4 });
  }
});

test("a role of a later version keeps whichever content it has", () => {
  const content = (...more: Uint8Array[]) => {
    const messages = read(message("later-role", ...more))?.["messages"] as JsonObject[] | undefined;
    return messages?.[0]?.["content"];
  };
  expect(content(text(3, "a"))).toBe("a");
  expect(content(textPart)).toEqual([{ type: "text", text: "hello" }]);
  expect(content(field(13))).toEqual({});
  expect(content()).toBeUndefined();
});

test("a part or a source with two kinds is refused", () => {
  const both = [field(1, text(1, "a")), field(1, text(1, "b"))] as const;
  expect(failure(message("user", field(8, both[0], field(2))))).toMatchObject({
    code: "ERR_PROTO_SEVERAL_ARMS",
    message: "ContentPart",
  });
  const source = field(1, field(1, text(1, "v")), field(2, text(1, "v")));
  expect(failure(message("user", field(8, field(2, source))))).toMatchObject({
    code: "ERR_PROTO_SEVERAL_ARMS",
    message: "PartSource",
  });
});

test("a part or a source of a later kind is dropped with a note", () => {
  const laterPart = field(8, field(9, text(1, "x")));
  const laterSource = field(8, field(2, field(1, field(9, text(1, "x")))));
  const { event, notes } = readWithNotes(message("user", laterPart, textPart, laterSource));
  expect(event?.["messages"]).toEqual([
    { id: "id", role: "user", content: [{ type: "text", text: "hello" }] },
  ]);
  expect(notes.filter((note) => note.kind === "unknown-part")).toHaveLength(2);
});

test("an outcome or a patch operation of a later version rides on for enforcement to judge", () => {
  const finished = (...more: Uint8Array[]) =>
    read(field(13, base(12), text(2, "t"), text(3, "r"), ...more));
  expect(finished(text(5, "paused"), text(8, "c"))?.["outcome"]).toEqual({
    type: "paused",
    pendingToolCallIds: ["c"],
  });
  expect(finished(text(8, "c"))).toMatchObject({ pendingToolCallIds: ["c"] });
  expect(finished(text(5, "interrupt"))?.["outcome"]).toEqual({
    type: "interrupt",
    interrupts: [],
  });
  expect(read(field(8, base(7), field(2, varint(1, 9))))?.["delta"]).toEqual([
    { op: "9", path: "" },
  ]);
});
