import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { isCountersignError } from "@countersign/core";
import { sample } from "fast-check";
import { expect, test } from "vitest";
import { arbitraryEvent } from "../testing/arbitraries.js";
import { createProtoDecoder, encodeProto } from "./index.js";
import { mutateBytes } from "./testing/mutate-bytes.js";

function codeOf(stream: Uint8Array): string {
  const decoder = createProtoDecoder({}, { onNote: () => undefined });
  try {
    decoder.push(stream);
    decoder.end();
    return "";
  } catch (error) {
    if (isCountersignError(error)) return error.code;
    throw error;
  }
}

test("24,000 damaged streams, headers included, end in events or in a coded error", () => {
  const codes = new Map<string, number>();
  const events = sample(arbitraryEvent(), { numRuns: 400, seed: 11 });
  for (const [index, event] of events.entries()) {
    for (const stream of mutateBytes(encodeProto(event), index, 60)) {
      const code = codeOf(stream);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
  }
  expect([...codes.values()].reduce((total, count) => total + count)).toBe(24_000);
  // The damage reaches beyond the framing.
  for (const code of ["", "ERR_PROTO_MALFORMED", "ERR_PROTO_WIRE_TYPE", "ERR_PROTO_TRUNCATED"]) {
    expect(codes.get(code)).toBeGreaterThan(100);
  }
});

/** A frame that repeats a few bytes four million times inside nested length-delimited fields. */
function flood(unit: readonly number[], ...tags: number[]): Uint8Array {
  let body = new Uint8Array(4_000_000);
  for (let at = 0; at < body.length; at += 1) body[at] = unit[at % unit.length] ?? 0;
  for (const tag of tags) body = new BinaryWriter().uint32(tag).bytes(body).finish();
  const frame = new Uint8Array(4 + body.length);
  new DataView(frame.buffer).setUint32(0, body.length);
  frame.set(body, 4);
  return frame;
}

test.each([
  ["groups that open and never close", [0xfb, 0x07], [], "ERR_PROTO_MALFORMED"],
  ["groups under the number of an arm", [0x3b], [], "ERR_PROTO_WIRE_TYPE"],
  ["a varint without an end", [0x80], [], "ERR_PROTO_MALFORMED"],
  ["unknown scalars and no event", [0xf8, 0x07, 0x01, 0x00], [], "ERR_PROTO_MALFORMED"],
  ["empty messages in a snapshot", [0x12, 0x00], [0x4a], "ERR_LIMIT_EXCEEDED"],
  ["empty lists in a state", [0x0a, 0x02, 0x32, 0x00], [0x32, 0x12, 0x3a], "ERR_LIMIT_EXCEEDED"],
])("a flood of %s ends in a coded error", (_what, unit, tags, code) => {
  expect(codeOf(flood(unit, ...tags))).toBe(code);
});

test("notes about unknown fields are bounded for each frame", () => {
  let notes = 0;
  const decoder = createProtoDecoder({}, { onNote: () => (notes += 1) });
  // STEP_STARTED with its base event, then 1,000 unknown varint fields.
  const body = [0x0a, 0x02, 0x08, 0x0e, ...Array.from({ length: 1000 }, () => [0x78, 0x01]).flat()];
  const envelope = [0x7a, 0x80 | (body.length & 0x7f), body.length >> 7, ...body];
  const frame = Uint8Array.of(0, 0, envelope.length >> 8, envelope.length & 0xff, ...envelope);
  expect(decoder.push(frame)).toEqual([{ type: "STEP_STARTED", stepName: "" }]);
  expect(notes).toBe(17);
});
