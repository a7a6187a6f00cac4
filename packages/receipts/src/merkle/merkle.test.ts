import { createHash } from "node:crypto";
import { decodeHex, encodeHex } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EMPTY_ROOT, leafHash, nodeHash, rootOfLevel } from "./hash.js";
import type { NodeReader } from "./prove.js";
import { proveConsistency, proveInclusion, rootFromNodes } from "./prove.js";
import { createTreeBuilder } from "./tree.js";
import { rootFromInclusion, verifyConsistency, verifyInclusion } from "./verify-proof.js";

// The oracle: the recursive definitions of RFC 6962 section 2.1; shares no code.
type Leaf = Buffer;
const digest = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const naiveLeaf = (entry: Uint8Array): Leaf => digest(Uint8Array.of(0), entry);
const split = (count: number): number => 2 ** (Math.ceil(Math.log2(count)) - 1);
function naiveRoot(leaves: readonly Leaf[]): Buffer {
  if (leaves.length === 0) return digest();
  if (leaves.length === 1) return leaves[0]!;
  const k = split(leaves.length);
  return digest(Uint8Array.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}
function naivePath(m: number, leaves: readonly Leaf[]): Buffer[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return m < k
    ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}
function naiveSubproof(m: number, leaves: readonly Leaf[], whole: boolean): Buffer[] {
  if (m === leaves.length) return whole ? [] : [naiveRoot(leaves)];
  const k = split(leaves.length);
  return m <= k
    ? [...naiveSubproof(m, leaves.slice(0, k), whole), naiveRoot(leaves.slice(k))]
    : [...naiveSubproof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
}

const ENTRIES = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
].map(decodeHex);
const ROOTS = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const nodesOf =
  (leaves: readonly Uint8Array[]): NodeReader =>
  (level, index) =>
    rootOfLevel(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level));

const numbered = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, index) => leafHash(new TextEncoder().encode(String(index))));

test("leaf, node and empty tree hashes are those of RFC 6962", () => {
  expect(encodeHex(EMPTY_ROOT)).toBe(
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
  const text = (value: string) => leafHash(new TextEncoder().encode(value));
  expect(encodeHex(text("a"))).toBe(
    "022a6979e6dab7aa5ae4c3e5e45f7e977112a7e63593820dbec1ec738a24f93c",
  );
  expect(encodeHex(nodeHash(text("a"), text("b")))).toBe(
    "b137985ff484fb600db93107c77b0365c80d78f5b429ded0fd97361d077999eb",
  );
});

test("the roots of the eight published entries are the published roots", () => {
  const tree = createTreeBuilder();
  expect(tree.root()).toEqual(EMPTY_ROOT);
  ENTRIES.forEach((entry, index) => {
    tree.append(leafHash(entry));
    expect(encodeHex(tree.root())).toBe(ROOTS[index]);
  });
});

test("published inclusion and consistency proofs come out hash by hash", async () => {
  const read = nodesOf(ENTRIES.map(leafHash));
  const start = async (proof: Promise<Uint8Array[]>) =>
    (await proof).map((hash) => encodeHex(hash).slice(0, 8));
  expect(await start(proveInclusion(0, 8, read))).toEqual(["96a296d2", "5f083f0a", "6b47aaf2"]);
  expect(await start(proveInclusion(5, 8, read))).toEqual(["bc1a0643", "ca854ea1", "d37ee418"]);
  expect(await start(proveInclusion(1, 5, read))).toEqual(["6e340b9c", "5f083f0a", "bc1a0643"]);
  expect(await start(proveInclusion(2, 3, read))).toEqual(["fac54203"]);
  expect(await start(proveConsistency(1, 8, read))).toEqual(["96a296d2", "5f083f0a", "6b47aaf2"]);
  expect(await start(proveConsistency(2, 5, read))).toEqual(["5f083f0a", "bc1a0643"]);
  expect(await start(proveConsistency(6, 8, read))).toEqual(["0ebc5d34", "ca854ea1", "d37ee418"]);
});

test("every tree up to 300 leaves has the root of the recursive definition", async () => {
  const leaves = numbered(300);
  const tree = createTreeBuilder();
  for (let size = 1; size <= 300; size += 1) {
    tree.append(leaves[size - 1]!);
    const prefix = leaves.slice(0, size);
    const root = naiveRoot(prefix.map((leaf) => Buffer.from(leaf)));
    expect(encodeHex(tree.root())).toBe(root.toString("hex"));
    expect(rootOfLevel(prefix)).toEqual(tree.root());
    expect(await rootFromNodes(size, nodesOf(leaves))).toEqual(tree.root());
  }
});

test("every proof in trees up to 40 leaves equals the definition and verifies", async () => {
  const leaves = numbered(40);
  const copies = leaves.map((leaf) => Buffer.from(leaf));
  const roots = Array.from({ length: 41 }, (_, size) => naiveRoot(copies.slice(0, size)));
  const read = nodesOf(leaves);
  for (let size = 1; size <= 40; size += 1) {
    const newer = { size, root: roots[size]! };
    for (let index = 0; index < size; index += 1) {
      const proof = await proveInclusion(index, size, read);
      expect(proof.map(encodeHex)).toEqual(
        naivePath(index, copies.slice(0, size)).map((hash) => hash.toString("hex")),
      );
      expect(verifyInclusion(leaves[index]!, index, size, proof, newer.root)).toBe(true);
      const older = { size: index + 1, root: roots[index + 1]! };
      const growth = await proveConsistency(older.size, size, read);
      expect(growth.map(encodeHex)).toEqual(
        naiveSubproof(older.size, copies.slice(0, size), true).map((hash) => hash.toString("hex")),
      );
      expect(verifyConsistency(older, newer, growth)).toBe(true);
    }
  }
});

test("in every tree up to 300 leaves the first, last and middle leaf can be proven", async () => {
  const leaves = numbered(300);
  const read = nodesOf(leaves);
  for (let count = 1; count <= 300; count += 1) {
    const root = rootOfLevel(leaves.slice(0, count));
    for (const index of new Set([0, count >> 1, count - 1])) {
      const proof = await proveInclusion(index, count, read);
      expect(verifyInclusion(leaves[index]!, index, count, proof, root)).toBe(true);
      const older = { size: index + 1, root: rootOfLevel(leaves.slice(0, index + 1)) };
      const growth = await proveConsistency(older.size, count, read);
      expect(verifyConsistency(older, { size: count, root }, growth)).toBe(true);
    }
  }
});

test("proofs of random positions in trees up to 300 leaves verify, and only there", async () => {
  const leaves = numbered(300);
  const roots = leaves.map((_, index) => rootOfLevel(leaves.slice(0, index + 1)));
  const size = fc.integer({ min: 1, max: 300 });
  await fc.assert(
    fc.asyncProperty(size, fc.nat(), fc.nat(), async (count, pick, other) => {
      const index = pick % count;
      const root = roots[count - 1]!;
      const proof = await proveInclusion(index, count, nodesOf(leaves));
      expect(verifyInclusion(leaves[index]!, index, count, proof, root)).toBe(true);
      const wrong = other % count;
      expect(verifyInclusion(leaves[index]!, wrong, count, proof, root)).toBe(wrong === index);
      expect(verifyInclusion(leaves[index]!, index, count, [...proof, root], root)).toBe(false);
      const shorter = verifyInclusion(leaves[index]!, index, count, proof.slice(1), root);
      expect(shorter).toBe(proof.length === 0);
      const older = { size: index + 1, root: roots[index]! };
      const newer = { size: count, root };
      const growth = await proveConsistency(older.size, count, nodesOf(leaves));
      expect(verifyConsistency(older, newer, growth)).toBe(true);
      const forged = { size: older.size, root: roots[wrong]! };
      expect(verifyConsistency(forged, newer, growth)).toBe(wrong === index);
      expect(verifyConsistency(older, newer, [...growth, root])).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test("positions past 2^32 are handled with exact arithmetic", async () => {
  // A tree in which every leaf is the same: each perfect subtree of one height has one hash.
  const heights: Uint8Array[] = [leafHash(new Uint8Array(0))];
  for (let level = 1; level < 53; level += 1) {
    heights.push(nodeHash(heights[level - 1]!, heights[level - 1]!));
  }
  const read: NodeReader = (level) => heights[level]!;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2 ** 32, max: 2 ** 50 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      async (count, part) => {
        const index = Math.floor(count * part);
        const root = await rootFromNodes(count, read);
        const proof = await proveInclusion(index, count, read);
        expect(verifyInclusion(heights[0]!, index, count, proof, root)).toBe(true);
        const older = { size: index + 1, root: await rootFromNodes(index + 1, read) };
        const growth = await proveConsistency(older.size, count, read);
        expect(verifyConsistency(older, { size: count, root }, growth)).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});

test("a tree resumes from a stored frontier as if it had never stopped", () => {
  const leaves = numbered(100);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), (stop) => {
      const first = createTreeBuilder();
      for (const leaf of leaves.slice(0, stop)) first.append(leaf);
      const second = createTreeBuilder(first.frontier());
      for (const leaf of leaves.slice(stop)) second.append(leaf);
      expect(second.size).toBe(100);
      expect(second.root()).toEqual(rootOfLevel(leaves));
    }),
  );
});

test("impossible sizes, indices and frontiers are a caller's mistake or a failed proof", async () => {
  expect(() => createTreeBuilder({ size: 3, hashes: [EMPTY_ROOT] })).toThrow(TypeError);
  expect(() => createTreeBuilder({ size: 1, hashes: [new Uint8Array(31)] })).toThrow(TypeError);
  expect(() => createTreeBuilder().append(new Uint8Array(31))).toThrow(TypeError);
  const read = nodesOf(numbered(4));
  await expect(proveInclusion(4, 4, read)).rejects.toThrow(TypeError);
  await expect(proveConsistency(5, 4, read)).rejects.toThrow(TypeError);
  await expect(rootFromNodes(0, read)).rejects.toThrow(TypeError);
  expect(rootFromInclusion(EMPTY_ROOT, -1, 1, [])).toBeUndefined();
  expect(rootFromInclusion(EMPTY_ROOT, 1, 1, [])).toBeUndefined();
  expect(rootFromInclusion(EMPTY_ROOT, 0, 2, [new Uint8Array(5)])).toBeUndefined();
  expect(naiveLeaf(new Uint8Array(0))).toEqual(Buffer.from(leafHash(new Uint8Array(0))));
});

test("a proof for an invalid size never verifies", () => {
  const root = leafHash(new Uint8Array(0));
  for (const size of [-1, 0.5, Number.NaN, Infinity, 2 ** 53]) {
    expect(verifyInclusion(root, size, 9, [], root)).toBe(false);
    expect(verifyInclusion(root, 0, size, [], root)).toBe(false);
    expect(verifyConsistency({ size, root }, { size: 9, root }, [root])).toBe(false);
    expect(verifyConsistency({ size: 0, root: EMPTY_ROOT }, { size, root }, [])).toBe(false);
    expect(verifyConsistency({ size, root }, { size, root }, [])).toBe(false);
  }
});

test("the empty tree is consistent with every tree, and equal sizes need equal roots", () => {
  const root = leafHash(new Uint8Array(0));
  expect(verifyConsistency({ size: 0, root: EMPTY_ROOT }, { size: 9, root }, [])).toBe(true);
  expect(verifyConsistency({ size: 0, root: EMPTY_ROOT }, { size: 9, root }, [root])).toBe(false);
  expect(verifyConsistency({ size: 9, root }, { size: 9, root }, [])).toBe(true);
  expect(verifyConsistency({ size: 9, root: EMPTY_ROOT }, { size: 9, root }, [])).toBe(false);
  expect(verifyConsistency({ size: 9, root }, { size: 8, root }, [])).toBe(false);
});
