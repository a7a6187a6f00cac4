import * as fc from "fast-check";
import { expect, test } from "vitest";
import { leafHash } from "../merkle/hash.js";
import { createTreeBuilder, frontierRoot } from "../merkle/tree.js";
import type { SignedGroup } from "../sign/group.js";
import { renumber, sealGroup, writeLength } from "../sign/records.js";
import { createTileBuilder } from "../tiles/build.js";
import { grow } from "./grow.js";

const entryText = (seq: number): string => `{"seq":${seq},"é":${seq % 7}}`;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** A group of entries numbered from `first` on; each entry starts with its number. */
function groupOf(
  first: number,
  count: number,
  after: (seq: number) => string = (seq) => `,"é":${seq % 7}}`,
): SignedGroup {
  const places: number[] = [];
  let records = Buffer.alloc(0);
  for (let seq = first; seq < first + count; seq += 1) {
    const entry = Buffer.from(`{"seq":${seq}${after(seq)}`);
    const record = Buffer.concat([Buffer.alloc(2), entry]);
    writeLength(record, 0, record.length);
    places.push(records.length + 2 + '{"seq":'.length, records.length + record.length);
    records = Buffer.concat([records, record]);
  }
  return sealGroup(first, records, Uint32Array.from(places));
}

/** A tree, its upper tile hashes and bundle starts, leaf by leaf; shares no code with `grow`. */
function slowly(from: number, size: number) {
  const tree = createTreeBuilder();
  const tiles = createTileBuilder();
  const above: { level: number; index: number; hash: string }[] = [];
  const starts: number[] = [];
  let head = tree.frontier();
  let bytes = 0;
  for (let seq = 0; seq < size; seq += 1) {
    if (seq === from) head = tree.frontier();
    const text = Buffer.from(entryText(seq));
    if (seq >= from) {
      if (seq % 256 === 0) starts.push(bytes);
      bytes += 2 + text.length;
    }
    const leaf = leafHash(text);
    tree.append(leaf);
    for (const { level, index, hashes } of tiles.append(leaf)) {
      const inner = createTreeBuilder();
      for (const one of hashes) inner.append(one);
      if (seq >= from) {
        above.push({ level: level + 1, index, hash: hex(inner.root()) });
      }
    }
  }
  if (from === size) head = tree.frontier();
  return { head, above, starts, end: tree.frontier() };
}

test("groups of any sizes on any head grow the tree, the tiles and the bundles that single leaves do", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.nat(600), fc.constantFrom(255, 256, 257, 511, 512)),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }),
      (from, counts) => {
        const total = counts.reduce((sum, one) => sum + one, 0);
        const expected = slowly(from, from + total);
        let first = from;
        const groups = counts.map((count) => {
          const group = groupOf(first, count);
          first += count;
          return group;
        });
        const batch = grow(expected.head, groups, () => []);
        expect(batch.count).toBe(total);
        expect(batch.frontier.size).toBe(expected.end.size);
        expect(batch.frontier.hashes.map(hex)).toEqual(expected.end.hashes.map(hex));
        expect(hex(batch.root())).toBe(hex(frontierRoot(expected.end)));
        expect(batch.bundleStarts).toEqual(expected.starts);
        expect(batch.above.map((one) => ({ ...one, hash: hex(one.hash) }))).toEqual(expected.above);
      },
    ),
    { numRuns: 40 },
  );
});

test("a renumbered group is byte for byte the group that had these numbers from the start", () => {
  fc.assert(
    fc.property(
      fc.nat(100_000),
      fc.nat(100_000),
      fc.integer({ min: 1, max: 40 }),
      (from, to, count) => {
        const moved = groupOf(from, count, (seq) => `,"n":"é${seq - from}"}`);
        const expected = groupOf(to, count, (seq) => `,"n":"é${seq - to}"}`);
        expect(renumber(moved, to)).toEqual(expected);
      },
    ),
    { numRuns: 100 },
  );
});

test("a group numbered for another head is not appended to this one", () => {
  expect(() => grow({ size: 0, hashes: [] }, [groupOf(1, 3)], () => [])).toThrow(TypeError);
});
