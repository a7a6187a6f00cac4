import { expect, test } from "vitest";
import { createTreeBuilder } from "../merkle/tree.js";
import type { StoreHead } from "../store/store.js";
import { OwnLineage } from "./own-lineage.js";

/** A tree whose leaves are distinguished by their names. */
function treeOf(leaves: string): StoreHead {
  const tree = createTreeBuilder();
  for (const leaf of leaves) tree.append(new Uint8Array(32).fill(leaf.charCodeAt(0)));
  return tree.frontier();
}
const SIGNED = { size: 2, root: new Uint8Array(32) };

/** A lineage whose tree `ab` was signed. */
function signedLineage(): OwnLineage {
  const lineage = new OwnLineage();
  lineage.grow(treeOf("a"), treeOf("ab"));
  lineage.chainFrom(treeOf("ab")).signed = SIGNED;
  return lineage;
}

test("a tree that a log grew from a signed tree extends it, read again or not", () => {
  const lineage = signedLineage();
  const own = treeOf("abc");
  lineage.grow(treeOf("ab"), own);
  lineage.grow(own, treeOf("abcd"));
  expect(lineage.chainFrom(own).signed).toBe(SIGNED);
  expect(lineage.chainFrom(treeOf("abcd")).signed).toBe(SIGNED);
});

test("after a failed append the lineage continues from the tree before it", () => {
  const lineage = signedLineage();
  lineage.grow(treeOf("ab"), treeOf("abc"));
  lineage.grow(treeOf("ab"), treeOf("abx"));
  expect(lineage.chainFrom(treeOf("abx")).signed).toBe(SIGNED);
});

test("trees of other writers are unknown, and so are the trees grown from them", () => {
  const lineage = signedLineage();
  expect(lineage.chainFrom(treeOf("xy")).signed).toBeUndefined();
  const other = signedLineage();
  other.grow(treeOf("abx"), treeOf("abxy"));
  expect(other.chainFrom(treeOf("abxy")).signed).toBeUndefined();
});

test("a tree older than the signed one extends nothing", () => {
  const lineage = signedLineage();
  lineage.grow(treeOf("a"), treeOf("axy"));
  expect(lineage.chainFrom(treeOf("axy")).signed).toBeUndefined();
});
