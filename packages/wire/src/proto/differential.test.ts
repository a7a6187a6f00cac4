import type { BaseEvent } from "@ag-ui/core";
import { EventEncoder } from "@ag-ui/encoder";
import { AGUIUnknownEventTypeError, decode } from "@ag-ui/proto";
import { isCountersignError } from "@countersign/core";
import { assert, constantFrom, property, sample } from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { AgUiEvent, EventType } from "../model/event.js";
import { arbitraryEvent } from "../testing/arbitraries.js";
import { PROTO_MEDIA_TYPE } from "./accept.js";
import { createProtoDecoder, encodeProto } from "./index.js";
import { mutateBytes } from "./testing/mutate-bytes.js";
import { envelopePlan } from "./plan.js";

// The official reader warns about each part it drops.
beforeAll(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
});

const official = new EventEncoder({ accept: PROTO_MEDIA_TYPE });
const TYPES = [...envelopePlan().byType.keys()] as EventType[];

test("the schema has the 31 events of the protocol", () => {
  expect(TYPES).toHaveLength(31);
});

test.each(TYPES)(
  "%s is written in the official bytes and read as the official reader does",
  (type) => {
    assert(
      property(arbitraryEvent(type), (event: AgUiEvent) => {
        const ours = encodeProto(event);
        expect(Buffer.compare(ours, official.encodeBinary(event as BaseEvent))).toBe(0);
        expect(createProtoDecoder().push(ours)).toStrictEqual([decode(ours.subarray(4))]);
      }),
      { numRuns: 60 },
    );
  },
);

/** Members whose strings the protocol enumerates. */
const ENUMERATED = new Set(["type", "role", "op", "subtype"]);

/** The value with `mark` before every string and every key of free JSON. */
function marked(value: unknown, mark: string, isFree = false): unknown {
  if (typeof value === "string") return mark + value;
  if (Array.isArray(value)) return value.map((item) => marked(item, mark, isFree));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (isFree) return [mark + name, marked(member, mark, true)];
      return [name, ENUMERATED.has(name) ? member : marked(member, mark, isJson(name))];
    }),
  );
}

const FREE =
  "rawEvent metadata snapshot state value event result forwardedProps parameters responseSchema payload";
const isJson = (name: string): boolean => FREE.split(" ").includes(name);

test.each(TYPES)(
  "%s: the official reader reads every string that begins with U+FEFF as it was evaluated",
  (type) => {
    assert(
      property(arbitraryEvent(type), constantFrom("\uFEFF", "\uFEFF\uFEFF"), (event, mark) => {
        const read = decode(encodeProto(event).subarray(4));
        const frame = encodeProto(marked(event, mark) as AgUiEvent);
        expect(decode(frame.subarray(4))).toStrictEqual(marked(read, mark));
        expect(createProtoDecoder().push(frame)).toStrictEqual([marked(read, mark)]);
      }),
      { numRuns: 60 },
    );
  },
);

test("reading what was written and writing it again gives the same bytes", () => {
  assert(
    property(arbitraryEvent(), (event) => {
      const bytes = encodeProto(event);
      const [read] = createProtoDecoder().push(bytes);
      expect(Buffer.compare(encodeProto(read as unknown as AgUiEvent), bytes)).toBe(0);
    }),
    { numRuns: 1000 },
  );
});

type Verdict = { event: unknown } | { code: string };

function officialVerdict(envelope: Uint8Array): Verdict {
  try {
    return { event: decode(envelope) };
  } catch (error) {
    return { code: error instanceof AGUIUnknownEventTypeError ? "future" : "error" };
  }
}

function ourVerdict(frame: Uint8Array): Verdict {
  try {
    const [event] = createProtoDecoder().push(frame);
    return event === undefined ? { code: "future" } : { event };
  } catch (error) {
    if (isCountersignError(error)) return { code: error.code };
    throw error;
  }
}

/** Inputs that we refuse and the official reader accepts; docs/wire-proto.md gives the reasons. */
const STRICTER = new Set([
  "ERR_PROTO_WIRE_TYPE",
  "ERR_PROTO_INVALID_UTF8",
  "ERR_PROTO_VALUE",
  "ERR_PROTO_SEVERAL_ARMS",
  "ERR_PROTO_MALFORMED",
]);

/** The verdict we should have given: theirs, unless ours is a refusal that may differ. */
function agreed(theirs: Verdict, ours: Verdict): Verdict {
  if ("event" in ours) return theirs;
  if ("event" in theirs) return STRICTER.has(ours.code) ? ours : theirs;
  return theirs.code === "future" || ours.code === "future" ? theirs : ours;
}

test("damaged envelopes get the official verdict, or a stricter one from a written list", () => {
  const events = sample(arbitraryEvent(), { numRuns: 300, seed: 7 });
  let read = 0;
  for (const [index, event] of events.entries()) {
    for (const envelope of mutateBytes(encodeProto(event).subarray(4), index, 20)) {
      if (envelope.length === 0) continue;
      const theirs = officialVerdict(envelope);
      const ours = ourVerdict(frameOf(envelope));
      expect(ours).toStrictEqual(agreed(theirs, ours));
      read += "event" in ours ? 1 : 0;
    }
  }
  expect(read).toBeGreaterThan(100);
});

function frameOf(envelope: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(envelope.length + 4);
  frame.writeUInt32BE(envelope.length);
  frame.set(envelope, 4);
  return frame;
}
