import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.js";

function split(bytes: Uint8Array, size: number, longest?: number): string[] {
  const seen: string[] = [];
  const splitter = new LineSplitter(
    {
      line: (text, ending) => seen.push(`${ending}:${text}`),
      invalid: () => seen.push("invalid"),
      tooLong: () => seen.push("too long"),
    },
    longest,
  );
  for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
  splitter.end();
  return seen;
}

const utf8 = new TextEncoder();

test("lines keep how they ended, wherever the bytes are cut", () => {
  const bytes = utf8.encode("a\nb\r\nc\rd\r\r\n\né\r\nlast");
  const whole = split(bytes, bytes.length);
  expect(whole).toEqual(["lf:a", "crlf:b", "cr:c", "cr:d", "crlf:", "lf:", "crlf:é", "none:last"]);
  for (let size = 1; size < bytes.length; size++) expect(split(bytes, size)).toEqual(whole);
});

test("any bytes, cut anywhere, give the same lines", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(10, 13, 97, 0xc3, 0xa9), { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      (values, size) => {
        const bytes = Uint8Array.from(values);
        expect(split(bytes, size)).toEqual(split(bytes, Math.max(1, bytes.length)));
      },
    ),
  );
});

test.each([1, 3, 100])(
  "a line at the limit passes, one byte more is dropped, in reads of %i bytes",
  (size) => {
    const line = (length: number): Uint8Array => utf8.encode(`${"x".repeat(length)}\nnext\n`);
    expect(split(line(8), size, 8)).toEqual([`lf:${"x".repeat(8)}`, "lf:next"]);
    expect(split(line(9), size, 8)).toEqual(["too long", "lf:next"]);
    expect(split(utf8.encode("x".repeat(20)), size, 8)).toEqual(["too long"]);
  },
);

test("a line of a megabyte that drips in byte by byte costs linear time", () => {
  const length = 1_000_000;
  expect(split(utf8.encode("x".repeat(length)), 1)).toEqual([`none:${"x".repeat(length)}`]);
});
