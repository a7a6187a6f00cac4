import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_ENTRY_BYTES } from "../entry/entry.js";
import { createLineGroups } from "./lines.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function takeAll(text: string, pieceSize: number, count: number): Promise<string[]> {
  const lines = createLineGroups(inPieces(encoder.encode(text), pieceSize));
  const groups: string[] = [];
  for (let group = await lines.take(count); group.length > 0; group = await lines.take(count)) {
    expect(group.byteLength).toBe(group.buffer.byteLength);
    groups.push(decoder.decode(group));
  }
  expect((await lines.take(count)).length).toBe(0);
  return groups;
}

test("groups hold so many lines each, however the file arrives, and together the whole file", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 60 });
  const size = fc.integer({ min: 1, max: 9 });
  await fc.assert(
    fc.asyncProperty(text, size, size, async (file, pieceSize, count) => {
      const groups = await takeAll(file, pieceSize, count);
      expect(groups.join("")).toBe(file);
      const feeds = groups.map((group) => group.split("\n").length - 1);
      expect(feeds.slice(0, -1).every((found) => found === count)).toBe(true);
      expect(feeds.at(-1) ?? 0).toBeLessThanOrEqual(count);
      expect(groups.slice(0, -1).every((group) => group.endsWith("\n"))).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ["whole", 1 << 20],
  ["in drips", 1_000],
  ["byte by byte", 1],
])(
  "a line of the longest entry is taken, one that is longer ends the file: %s",
  async (_, size) => {
    const longest = `${"a".repeat(MAX_ENTRY_BYTES)}\n`;
    expect(await takeAll(`x\n${longest}y\n`, size, 1)).toEqual(["x\n", longest, "y\n"]);
    const endless = "a".repeat(4 * MAX_ENTRY_BYTES);
    const groups = await takeAll(`x\n${endless}`, size, 2);
    // The bytes read before the line was too long; a file in one piece was read whole.
    expect(groups).toHaveLength(1);
    expect(groups[0]?.length).toBeLessThanOrEqual(Math.max(size, MAX_ENTRY_BYTES + 2 + size));
  },
);
