import { createParser } from "eventsource-parser";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createSseDecoder } from "./decode.js";
import type { SseDecoderOptions } from "./decode.js";
import type { SseMessage } from "./message.js";

const utf8 = new TextEncoder();

interface Outcome {
  messages: SseMessage[];
  comments: number;
  failure?: unknown;
}

function decode(chunks: Iterable<Uint8Array>, options?: SseDecoderOptions): Outcome {
  const decoder = createSseDecoder(options);
  const messages: SseMessage[] = [];
  try {
    for (const chunk of chunks) messages.push(...decoder.push(chunk));
    messages.push(...decoder.end());
    return { messages, comments: decoder.comments };
  } catch (error) {
    const { code, facts } = error as { code: string; facts: object };
    return { messages, comments: decoder.comments, failure: { code, ...facts } };
  }
}

function bytesOf(input: string | readonly number[]): Uint8Array {
  return typeof input === "string" ? utf8.encode(input) : Uint8Array.from(input);
}

/** Feeds whole, byte by byte and cut at every offset; all must agree. */
function decodeEveryWay(input: string | readonly number[], options?: SseDecoderOptions): Outcome {
  const bytes = bytesOf(input);
  const whole = decode([bytes], options);
  expect(
    decode(
      Array.from(bytes, (byte) => Uint8Array.of(byte)),
      options,
    ),
  ).toEqual(whole);
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)], options)).toEqual(whole);
  }
  return whole;
}

test.each<[string, string, SseMessage[]]>([
  ["LF", 'data: {"a":1}\n\ndata: {"b":2}\n\n', [{ data: '{"a":1}' }, { data: '{"b":2}' }]],
  ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", [{ data: "a" }, { data: "b" }]],
  ["CR", "data: a\r\rdata: b\r\r", [{ data: "a" }, { data: "b" }]],
  [
    "mixed endings",
    "data: a\r\n\ndata: b\n\rdata: c\r\r\n",
    [{ data: "a" }, { data: "b" }, { data: "c" }],
  ],
  [
    "LF data with CRLF pings",
    "data: a\n\n: ping\r\n\r\ndata: b\n\n",
    [{ data: "a" }, { data: "b" }],
  ],
  ["a byte order mark", "\ufeffdata: a\n\n", [{ data: "a" }]],
  ["a second byte order mark is not a data field", "\ufeff\ufeffdata: a\n\n", []],
  ["multi-line data", "data: a\ndata\ndata:  b\n\n", [{ data: "a\n\n b" }]],
  ["no space", "data:a\n\n", [{ data: "a" }]],
  ["empty data", "data:\n\ndata\n\n", [{ data: "" }, { data: "" }]],
  [
    "fields",
    "event: e\nid: 7\nretry: 10\ndata: a\n\n",
    [{ data: "a", event: "e", id: "7", retry: 10 }],
  ],
  ["fields do not leak", "event: e\nid: 7\nretry: 10\n\ndata: a\n\n", [{ data: "a" }]],
  ["empty fields", "event:\nid\ndata: a\n\n", [{ data: "a", id: "" }]],
  ["odd fields", "id: a\0b\nretry: 1s\nDATA: x\n data: y\nfoo\ndata: a\n\n", [{ data: "a" }]],
  ["several UTF-8 lengths", "data: é€😀\r\n\r\n", [{ data: "é€😀" }]],
  ["a missing last blank line", "data: a\n\ndata: b\n", [{ data: "a" }, { data: "b" }]],
  [
    "a missing last line ending",
    "data: a\n\nevent: e\ndata: b",
    [{ data: "a" }, { data: "b", event: "e" }],
  ],
  ["blank lines only", "\n\r\n\r\r\n\n", []],
  ["nothing", "", []],
])("%s is read the same however it is cut", (_name, text, messages) => {
  expect(decodeEveryWay(text).messages).toEqual(messages);
});

test("comments are counted and never become messages", () => {
  expect(decodeEveryWay(": ping\n\n:\ndata: a\n: x\n\n")).toEqual({
    messages: [{ data: "a" }],
    comments: 3,
  });
});

test("an unterminated block is processed, dropped or refused, as asked", () => {
  const text = "data: a\n\ndata: b";
  expect(decodeEveryWay(text, { unterminated: "drop" }).messages).toEqual([{ data: "a" }]);
  expect(decodeEveryWay(text, { unterminated: "refuse" })).toEqual({
    messages: [{ data: "a" }],
    comments: 0,
    failure: { code: "ERR_SSE_UNTERMINATED", offset: 16 },
  });
  expect(decodeEveryWay("data: a\n\n", { unterminated: "refuse" }).failure).toBeUndefined();
});

test.each<[number[], number]>([
  [[0xff, 0x0a], 9],
  [[0x64, 0xc3, 0x0a, 0xa9, 0x0a], 10],
  [[0x64, 0xed, 0xa0, 0x80], 10],
  [[0xe2, 0x82], 9],
])(
  "bytes %j after a message are refused at byte %i and the message still comes out",
  (bad, offset) => {
    const input = [...utf8.encode("data: a\n\n"), ...bad];
    expect(decodeEveryWay(input)).toEqual({
      messages: [{ data: "a" }],
      comments: 0,
      failure: { code: "ERR_SSE_UTF8", offset },
    });
  },
);

test("a line at the limit is read, one byte more is refused where it begins", () => {
  for (const value of ["aaaa", "éé", "😀"]) {
    const text = `data: x\n\ndata: ${value}\n\n`;
    expect(decodeEveryWay(text, { maxLineBytes: 10 }).messages).toHaveLength(2);
    expect(decodeEveryWay(text, { maxLineBytes: 9 })).toEqual({
      messages: [{ data: "x" }],
      comments: 0,
      failure: { code: "ERR_LIMIT_EXCEEDED", limit: "maxLineBytes", allowed: 9, offset: 9 },
    });
  }
  expect(decodeEveryWay(`: ${"x".repeat(20)}`, { maxLineBytes: 8 }).failure).toBeDefined();
});

test("data at the frame limit is read, one byte more is refused at the line that went over", () => {
  const text = "data: é\ndata: aa\ndata: é😀\n\n";
  expect(decodeEveryWay(text, { maxFrameBytes: 12 }).messages).toEqual([{ data: "é\naa\né😀" }]);
  expect(decodeEveryWay(text, { maxFrameBytes: 11 })).toEqual({
    messages: [],
    comments: 0,
    failure: { code: "ERR_LIMIT_EXCEEDED", limit: "maxFrameBytes", allowed: 11, offset: 18 },
  });
});

test("heartbeats do not count against the frame limit, however many come", () => {
  expect(decodeEveryWay(": ping\n".repeat(20), { maxFrameBytes: 8 }).comments).toBe(20);
});

test("a failed decoder repeats its error and an ended one is the caller's mistake", () => {
  const decoder = createSseDecoder({ maxLineBytes: 4 });
  expect(() => decoder.push(utf8.encode("data: a"))).toThrow("maxLineBytes");
  expect(() => decoder.push(utf8.encode("\n"))).toThrow(decoder.failure);
  expect(() => decoder.end()).toThrow(decoder.failure);
  const ended = createSseDecoder();
  ended.end();
  expect(() => ended.push(new Uint8Array())).toThrow(TypeError);
  expect(() => createSseDecoder({ maxFrameBytes: 0 })).toThrow(TypeError);
});

test("a byte order mark is excluded from the first line's length, however the stream is cut", () => {
  for (const [text, fits] of [
    ["\ufeffdata: 12\n\n", true],
    ["\ufeffdata: 12", true],
    ["\ufeffdata: 123\n\n", false],
    ["\ufeffdata: 123", false],
    ["data: 123\n\n", false],
  ] as const) {
    const { messages } = decodeEveryWay(text, { maxLineBytes: 8 });
    expect(messages).toEqual(fits ? [{ data: "12" }] : []);
  }
});

test("the caller may reuse a buffer after push", () => {
  const decoder = createSseDecoder();
  const buffer = utf8.encode("data: secret");
  decoder.push(buffer);
  buffer.fill(0);
  expect(decoder.push(utf8.encode("\n\n"))).toEqual([{ data: "secret" }]);
});

const line = fc.oneof(
  fc.constantFrom("data: x", "data:", "data", "data:  y", "data: é😀", "id: 1", "id", "event: e"),
  fc.constantFrom("event:", ": c", ":", "retry: 5", "retry: x", "", "", "", "dat", " data: z"),
  fc.string({ unit: fc.constantFrom(..."dat:ei \tévn"), maxLength: 8 }),
);
const stream = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\n", "\r\n", "\r")), { maxLength: 20 })
  .map((lines) => lines.flat().join(""));

test("every stream reads as eventsource-parser reads it, cut at random places", () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat({ max: 200 }), { maxLength: 6 }), (text, cuts) => {
      const expected: object[] = [];
      const parser = createParser({
        onEvent: ({ data, event, id }) => expected.push({ data, event, id }),
      });
      // It waits after a last CR for the LF of a CRLF; a further comment line makes it go on.
      parser.feed(`${text}:\n`);
      const bytes = utf8.encode(text);
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b),
      ];
      const chunks = places.map((from, index) => bytes.subarray(from, places[index + 1]));
      const { messages } = decode(chunks, { unterminated: "drop" });
      expect(messages.map(({ data, event, id }) => ({ data, event, id }))).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

test("mutated bytes end in messages or a coded error, the same however they are cut", () => {
  const bytes = fc
    .tuple(stream, fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }))))
    .map(([text, edits]) => {
      const mutated = utf8.encode(text);
      for (const [at, byte] of edits) if (mutated.length > 0) mutated[at % mutated.length] = byte;
      return mutated;
    });
  fc.assert(
    fc.property(bytes, fc.nat(), (data, at) => {
      const cut = at % (data.length + 1);
      const whole = decode([data]);
      expect(decode([data.subarray(0, cut), data.subarray(cut)])).toEqual(whole);
      expect(decode(Array.from(data, (byte) => Uint8Array.of(byte)))).toEqual(whole);
      expect([undefined, "ERR_SSE_UTF8"]).toContain((whole.failure as { code?: string })?.code);
    }),
    { numRuns: 1000 },
  );
});
