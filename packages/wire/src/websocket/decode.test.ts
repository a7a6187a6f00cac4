import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeTextFrame, textFrameStyle } from "./decode.js";
import { encodeTextFrame } from "./encode.js";

const EVENT = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}';

test.each([
  ["bare JSON", EVENT, [EVENT]],
  ["SSE text", `data: ${EVENT}\n\n`, [EVENT]],
  ["SSE text without a space", `data:${EVENT}\n\n`, [EVENT]],
  ["SSE text without a blank line", `data: ${EVENT}`, [EVENT]],
  ["CRLF", `data: ${EVENT}\r\n\r\n`, [EVENT]],
  ["two events in one frame", `data: ${EVENT}\n\ndata: {"a":1}\n\n`, [EVENT, '{"a":1}']],
  ["an event name and an id", `event: e\nid: 1\ndata: ${EVENT}\n\n`, [EVENT]],
  ["a byte order mark before SSE", `\ufeffdata: ${EVENT}\n\n`, [EVENT]],
  ["a comment", ": ping\n\n", []],
  ["white space before JSON", ` ${EVENT}`, [` ${EVENT}`]],
  ["something else is left for the JSON parser to refuse", "hello: world", ["hello: world"]],
  ["an empty frame too", "", [""]],
])("%s", (_name, frame, texts) => {
  expect(decodeTextFrame(frame)).toEqual(texts);
});

test("a frame of either style decodes to what was encoded", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom("json", "sse"), (value, style) => {
      const json = JSON.stringify(value);
      const frame = encodeTextFrame(json, style as "json" | "sse");
      expect(textFrameStyle(frame)).toBe(style);
      expect(decodeTextFrame(frame)).toEqual([json]);
    }),
  );
});

test("a frame at the limit is read, one byte more is refused", () => {
  for (const frame of ['"aaaa"', '"éé"', '"😀"']) {
    expect(decodeTextFrame(frame, { maxFrameBytes: 6 })).toEqual([frame]);
    expect(() => decodeTextFrame(frame, { maxFrameBytes: 5 })).toThrow(
      expect.objectContaining({
        code: "ERR_LIMIT_EXCEEDED",
        facts: { limit: "maxFrameBytes", allowed: 5 },
      }),
    );
  }
});
