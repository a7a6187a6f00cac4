import { concatBytes, isCountersignError } from "@countersign/core";
import type { JsonObject, Limits } from "@countersign/core";
import { sample } from "fast-check";
import { expect, test } from "vitest";
import type { AgUiEvent, EventType } from "../model/event.js";
import { arbitraryEvent } from "../testing/arbitraries.js";
import type { ProtoDecoder } from "./index.js";
import { createProtoDecoder, encodeProto } from "./index.js";
import { envelopePlan } from "./plan.js";

const EVENTS = [...envelopePlan().byType.keys()].flatMap((type) =>
  sample(arbitraryEvent(type as EventType), { numRuns: 1, seed: 3 }),
);
const STREAM = concatBytes(...EVENTS.map((event) => encodeProto(event)));
const WHOLE = createProtoDecoder().push(STREAM);

/** Everything a decoder says about chunks: the events, then the code it died with. */
function outcome(
  chunks: Uint8Array[],
  limits?: Partial<Limits>,
): { events: JsonObject[]; code: string } {
  const decoder = createProtoDecoder(limits);
  const events: JsonObject[] = [];
  try {
    for (const chunk of chunks) events.push(...decoder.push(chunk));
    decoder.end();
  } catch (error) {
    if (isCountersignError(error)) return { events, code: error.code };
    throw error;
  }
  return { events, code: "" };
}

function bytewise(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte));
}

function failure(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return isCountersignError(error) ? { code: error.code, ...error.facts } : error;
  }
  return undefined;
}

test("two frames cut at any offset give the same events, for every type", () => {
  for (const event of EVENTS) {
    const frame = encodeProto(event);
    const stream = concatBytes(frame, frame);
    const text = JSON.stringify(createProtoDecoder().push(stream));
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const { events, code } = outcome([stream.subarray(0, cut), stream.subarray(cut)]);
      // A deep comparison at every offset would take minutes; the texts differ when anything does.
      expect(code === "" && JSON.stringify(events) === text).toBe(true);
    }
  }
});

test("a stream fed byte by byte gives the same events", () => {
  expect(outcome(bytewise(STREAM))).toStrictEqual({ events: WHOLE, code: "" });
});

test("events do not change when the caller reuses its buffer", () => {
  const buffer = Uint8Array.from(STREAM);
  const events = createProtoDecoder().push(buffer);
  buffer.fill(0);
  expect(events).toStrictEqual(WHOLE);
});

test("events before a bad frame are delivered wherever the stream is cut, then the error comes", () => {
  const first = encodeProto({ type: "STEP_STARTED", stepName: "one" });
  const stream = concatBytes(first, Uint8Array.of(0, 0, 0, 1, 0), first);
  const expected = { events: createProtoDecoder().push(first), code: "ERR_PROTO_MALFORMED" };
  for (let cut = 0; cut <= stream.length; cut += 1) {
    expect(outcome([stream.subarray(0, cut), stream.subarray(cut)])).toStrictEqual(expected);
  }
  expect(outcome(bytewise(stream))).toStrictEqual(expected);
});

test("a decoder is dead after an error and says so at once", () => {
  const good = encodeProto({ type: "STEP_STARTED", stepName: "one" });
  const decoder: ProtoDecoder = createProtoDecoder();
  expect(decoder.push(concatBytes(good, new Uint8Array(4)))).toHaveLength(1);
  expect(decoder.error?.code).toBe("ERR_PROTO_EMPTY_FRAME");
  for (const call of [() => decoder.push(good), () => decoder.push(good), () => decoder.end()]) {
    expect(failure(call)).toEqual({ code: "ERR_PROTO_EMPTY_FRAME", offset: good.length });
  }
});

test("a frame of length zero is refused under its own code", () => {
  expect(failure(() => createProtoDecoder().push(new Uint8Array(4)))).toEqual({
    code: "ERR_PROTO_EMPTY_FRAME",
    offset: 0,
  });
});

test("a stream that ends inside a frame is truncated, and says where", () => {
  const frame = encodeProto({ type: "STEP_STARTED", stepName: "one" });
  for (let cut = 1; cut < frame.length; cut += 1) {
    const decoder = createProtoDecoder();
    decoder.push(frame);
    decoder.push(frame.subarray(0, cut));
    expect(failure(() => decoder.end())).toEqual({
      code: "ERR_PROTO_TRUNCATED",
      offset: frame.length,
      pending: cut,
    });
  }
});

test("pushing after the end is the caller's mistake", () => {
  const decoder = createProtoDecoder();
  decoder.end();
  expect(() => decoder.push(new Uint8Array(0))).toThrow(TypeError);
});

test("a frame at the limit passes and one byte more is refused, drip-fed too", () => {
  const frame = encodeProto({ type: "STEP_STARTED", stepName: "x".repeat(3000) });
  const at = { maxFrameBytes: frame.length };
  const over = { maxFrameBytes: frame.length - 1 };
  expect(outcome([frame], at)).toMatchObject({ events: [{}], code: "" });
  expect(outcome(bytewise(frame), at)).toMatchObject({ events: [{}], code: "" });
  expect(outcome([frame], over).code).toBe("ERR_LIMIT_EXCEEDED");
  expect(outcome(bytewise(frame), over).code).toBe("ERR_LIMIT_EXCEEDED");
});

test("the default limit is 10 MiB with the header, refused on the header alone", () => {
  const header = (length: number) => {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, length);
    return bytes;
  };
  const most = 10 * 1024 * 1024 - 4;
  expect(createProtoDecoder().push(header(most))).toEqual([]);
  expect(failure(() => createProtoDecoder().push(header(most + 1)))).toMatchObject({
    limit: "maxFrameBytes",
  });
  expect(failure(() => createProtoDecoder().push(header(0xff_ff_ff_ff)))).toMatchObject({
    limit: "maxFrameBytes",
  });
});

test("a claimed length costs no memory until bytes come", () => {
  const decoders = Array.from({ length: 2000 }, () => createProtoDecoder());
  const header = Uint8Array.of(0, 0x9f, 0xff, 0xfc);
  // 2,000 × 10 MiB would not fit; that this ends shows that nothing was reserved.
  for (const decoder of decoders) expect(decoder.push(header)).toEqual([]);
});

test("nesting at the limit passes and one level more is refused", () => {
  let snapshot: unknown[] = [];
  for (let level = 2; level < 64; level += 1) snapshot = [snapshot];
  const frame = (value: unknown) =>
    encodeProto({ type: "STATE_SNAPSHOT", snapshot: value } as AgUiEvent, {
      limits: { maxDepth: 100 },
    });
  expect(outcome([frame(snapshot)])).toMatchObject({ events: [{}], code: "" });
  expect(failure(() => createProtoDecoder().push(frame([snapshot])))).toMatchObject({
    code: "ERR_LIMIT_EXCEEDED",
    limit: "maxDepth",
    allowed: 64,
  });
});

test("objects at the limit pass and one more is refused", () => {
  // The event, its base event, the outer list and ten objects.
  const frame = encodeProto({
    type: "STATE_SNAPSHOT",
    snapshot: Array.from({ length: 10 }, () => ({})),
  });
  expect(createProtoDecoder({}, { maxObjects: 13 }).push(frame)).toHaveLength(1);
  expect(failure(() => createProtoDecoder({}, { maxObjects: 12 }).push(frame))).toMatchObject({
    code: "ERR_LIMIT_EXCEEDED",
    limit: "maxObjects",
  });
});

test("a limit that is not a positive integer is a TypeError", () => {
  expect(() => createProtoDecoder({ maxFrameBytes: 0 })).toThrow(TypeError);
  expect(() => createProtoDecoder({}, { maxObjects: 1.5 })).toThrow(TypeError);
});
