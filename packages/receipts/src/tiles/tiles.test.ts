import { decodeHex, encodeHex, isCountersignError, sha256Hex } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { leafHash, rootOfLevel } from "../merkle/hash.js";
import { proveInclusion, rootFromNodes } from "../merkle/prove.js";
import { verifyInclusion } from "../merkle/verify-proof.js";
import type { HashTile } from "./build.js";
import { createTileBuilder } from "./build.js";
import { decodeBundle, decodeTile, encodeBundle, encodeTile } from "./bundle.js";
import { tilesForGrowth, tileWidth } from "./layout.js";
import { createTileNodeReader } from "./nodes.js";
import { createTileCache } from "./tile-cache.js";
import { entriesPath, parseTilePath, tilePath } from "./path.js";
import { resumeTree } from "./resume.js";
import { createTreeBuilder } from "../merkle/tree.js";

const coded = (code: "ERR_TILE_MALFORMED" | "ERR_ENTRY_TOO_LARGE") => (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return isCountersignError(error, code);
  }
  return false;
};
const refused = coded("ERR_TILE_MALFORMED");

const entries = Array.from({ length: 300 }, (_, index) => new TextEncoder().encode(String(index)));

function build(leaves: readonly Uint8Array[]): Map<string, HashTile> {
  const builder = createTileBuilder();
  const tiles = new Map<string, HashTile>();
  for (const leaf of leaves) {
    for (const tile of builder.append(leaf)) tiles.set(tilePath(tile), tile);
  }
  for (const tile of builder.partials()) tiles.set(tilePath(tile), tile);
  return tiles;
}

test("paths are those of C2SP tlog-tiles", () => {
  expect(tilePath({ level: 0, index: 5, width: 256 })).toBe("tile/0/005");
  expect(tilePath({ level: 3, index: 1_234_067, width: 256 })).toBe("tile/3/x001/x234/067");
  expect(tilePath({ level: 0, index: 273, width: 112 })).toBe("tile/0/273.p/112");
  expect(entriesPath(1000, 1)).toBe("tile/entries/x001/000.p/1");
});

test("a path has one form, which parses back", () => {
  const level = fc.oneof(fc.integer({ min: 0, max: 63 }), fc.constant("entries" as const));
  fc.assert(
    fc.property(level, fc.nat(2 ** 40), fc.integer({ min: 1, max: 256 }), (at, index, width) => {
      const name = { level: at, index, width };
      expect(parseTilePath(tilePath(name))).toEqual(name);
    }),
  );
  for (const path of [
    "tile/64/000",
    "tile/00/000",
    "tile/0/5",
    "tile/0/x000/005",
    "tile/0/005.p/0",
    "tile/0/005.p/256",
    "tile/0/005.p/01",
    "tile/data/000",
    "tile/0/../000",
    "/tile/0/000",
  ]) {
    expect(refused(() => parseTilePath(path))).toBe(true);
  }
});

test("the bundle of the eight published entries has the published bytes", () => {
  const eight = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
  ].map(decodeHex);
  const bundle = encodeBundle(eight);
  expect(encodeHex(bundle)).toBe(
    "000000010000011000022021000230310004404142430008505152535455565700" +
      "10606162636465666768696a6b6c6d6e6f",
  );
  expect(decodeBundle(bundle, 8).map(encodeHex)).toEqual(eight.map(encodeHex));
  expect(sha256Hex(encodeTile(eight.map(leafHash)))).toBe(
    "aea2f1bbb5140fd5f8eacb503fdf54c00c3d860c72588e40233addd416bc8f10",
  );
});

test("tiles and bundles of 300 decimal entries hash to the published vectors", () => {
  const tiles = build(entries.map(leafHash));
  const hashes = Object.fromEntries(
    [...tiles].map(([path, tile]) => [path, sha256Hex(encodeTile(tile.hashes))]),
  );
  expect(hashes).toEqual({
    "tile/0/000": "b9704a8bfbee2c61185ceb38904a49f3f703c81e194b5b2ccdc254c2bdaaa62b",
    "tile/0/001.p/44": "03c8b91297109114834f4ea4b4043313b3abf15301439b30371d874810427409",
    "tile/1/000.p/1": sha256Hex(
      decodeHex("828515d033c19d8c901f37eccb8aed919667703486f8d2fff1cf7040321c5db1"),
    ),
  });
  expect(sha256Hex(encodeBundle(entries.slice(0, 256)))).toBe(
    "94693d5c6d6a0355ec07bac8214516c1ce6a5100b0588f226fd95f26571157d7",
  );
  expect(sha256Hex(encodeBundle(entries.slice(256)))).toBe(
    "3cbb13f44fb536e609ae550455937cf3adf59ef8c05c5c507d879310ee98f2f9",
  );
  expect(encodeHex(rootOfLevel(entries.map(leafHash)))).toBe(
    "84e13ec1e037155ae619757599b2cd21ada5a565e0fd9b3139c0c3c6c1b8ada9",
  );
});

test("a tree of 70,000 leaves has the tiles the specification counts", () => {
  const names = [...tilesForGrowth(0, 70_000)].filter(({ level }) => level !== "entries");
  const at = (level: number) => names.filter((name) => name.level === level);
  expect(at(0).length).toBe(274);
  expect(at(0).at(-1)).toEqual({ level: 0, index: 273, width: 112 });
  expect(at(1).map(({ width }) => width)).toEqual([256, 17]);
  expect(at(2)).toEqual([{ level: 2, index: 0, width: 1 }]);
  expect(at(3)).toEqual([]);
  expect(tileWidth(0, 274, 70_000)).toBe(0);
});

test("growth in any steps lists exactly the tiles of one step, plus partial ones", () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(1000), (first, more) => {
      const size = first + more;
      const whole = new Set([...tilesForGrowth(0, size)].map(tilePath));
      const before = [...tilesForGrowth(0, first)].map(tilePath);
      const after = [...tilesForGrowth(first, size)].map(tilePath);
      const seen = new Set([...before, ...after]);
      for (const path of whole) expect(seen.has(path)).toBe(true);
      for (const path of after) expect(whole.has(path) && !before.includes(path)).toBe(true);
    }),
  );
});

test("nodes read out of tiles give the root and proofs of the whole tree", async () => {
  const leaves = Array.from({ length: 66_000 }, (_, index) =>
    leafHash(Uint8Array.of(index >> 16, (index >> 8) & 255, index & 255)),
  );
  const tiles = build(leaves);
  const read = createTileNodeReader(leaves.length, (tile) =>
    encodeTile(tiles.get(tilePath(tile))!.hashes),
  );
  const root = rootOfLevel(leaves);
  expect(await rootFromNodes(leaves.length, read)).toEqual(root);
  for (const index of [0, 255, 256, 65_535, 65_536, 65_999]) {
    const proof = await proveInclusion(index, leaves.length, read);
    expect(verifyInclusion(leaves[index]!, index, leaves.length, proof, root)).toBe(true);
  }
  await expect(read(0, 66_000)).rejects.toThrow(TypeError);
});

test("readers of one log share tiles, whatever its size was, and a failed read is retried", async () => {
  const leaves = Array.from({ length: 1_000 }, (_, index) =>
    leafHash(Uint8Array.of(index >> 8, index & 255)),
  );
  const cache = createTileCache(8);
  let reads = 0;
  let broken = true;
  const reader = (size: number) => {
    const tiles = build(leaves.slice(0, size));
    return createTileNodeReader(
      size,
      (tile) => {
        reads += 1;
        if (broken) throw new Error("the disk is away");
        return encodeTile(tiles.get(tilePath(tile))!.hashes);
      },
      cache,
    );
  };
  await expect(rootFromNodes(700, reader(700))).rejects.toThrow("away");
  broken = false;
  for (const size of [700, 700, 701, 1_000, 1_000, 700]) {
    const root = rootOfLevel(leaves.slice(0, size));
    expect(await rootFromNodes(size, reader(size))).toEqual(root);
    for (const index of [0, 300, size - 1]) {
      const proof = await proveInclusion(index, size, reader(size));
      expect(verifyInclusion(leaves[index]!, index, size, proof, root)).toBe(true);
    }
  }
  // At most four of the first attempt; then each tile once, except those that the small cache
  // evicted.
  expect(reads).toBeLessThan(30);
});

test("a bundle that is cut, overlong or of another width is refused", () => {
  const bundle = encodeBundle(entries.slice(0, 3));
  for (let end = 0; end < bundle.length; end += 1) {
    expect(refused(() => decodeBundle(bundle.subarray(0, end), 3))).toBe(true);
  }
  expect(refused(() => decodeBundle(bundle, 2))).toBe(true);
  expect(refused(() => decodeBundle(bundle, 4))).toBe(true);
  expect(refused(() => decodeTile(new Uint8Array(63), 2))).toBe(true);
});

test("an entry of 65,535 bytes fits a bundle and one byte more does not", () => {
  const largest = new Uint8Array(65_535);
  expect(decodeBundle(encodeBundle([largest]), 1)[0]?.length).toBe(65_535);
  expect(coded("ERR_ENTRY_TOO_LARGE")(() => encodeBundle([new Uint8Array(65_536)]))).toBe(true);
});

test("a tree resumed from its tiles at any size grows like the whole tree", async () => {
  const leaves = Array.from({ length: 70_000 }, (_, at) =>
    leafHash(new TextEncoder().encode(`${at}`)),
  );
  const levels: Uint8Array[][] = [leaves];
  for (let below = leaves; below.length >= 256;) {
    below = Array.from({ length: Math.floor(below.length / 256) }, (_, at) =>
      rootOfLevel(below.slice(at * 256, (at + 1) * 256)),
    );
    levels.push(below);
  }
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 69_990 }), async (size) => {
      const { frontier, levels: partial } = await resumeTree(
        size,
        async ({ level, index, width }) =>
          encodeTile((levels[level] ?? []).slice(index * 256, index * 256 + width)),
      );
      const resumed = createTreeBuilder(frontier);
      const whole = createTreeBuilder();
      for (const leaf of leaves.slice(0, size)) whole.append(leaf);
      const tiles = createTileBuilder(partial);
      for (const leaf of leaves.slice(size, size + 5)) {
        resumed.append(leaf);
        whole.append(leaf);
        tiles.append(leaf);
      }
      expect(encodeHex(resumed.root())).toBe(encodeHex(whole.root()));
      for (const tile of tiles.partials()) {
        const expected = (levels[tile.level] ?? []).slice(
          tile.index * 256,
          tile.index * 256 + tile.width,
        );
        expect(tile.hashes.map(encodeHex)).toEqual(expected.map(encodeHex));
      }
    }),
    { numRuns: 25 },
  );
}, 60_000);
