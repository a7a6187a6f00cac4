import { expect, test } from "vitest";
import { createTreeBuilder } from "../merkle/tree.js";
import type { StoreHead } from "../store/store.js";
import { Descent } from "./descent.js";

/** A tree whose leaves are distinguished by their names. */
function treeOf(leaves: string): StoreHead {
  const tree = createTreeBuilder();
  for (const leaf of leaves) tree.append(new Uint8Array(32).fill(leaf.charCodeAt(0)));
  return tree.frontier();
}
const SIGNED = { size: 2, root: new Uint8Array(32) };

/** A lineage whose tree `ab` was signed. */
function signedDescent(): Descent {
  const descent = new Descent();
  descent.grow(treeOf("a"), treeOf("ab"));
  descent.lineFrom(treeOf("ab")).holds = SIGNED;
  return descent;
}

test("a tree that a log grew from a signed tree extends it, read again or not", () => {
  const descent = signedDescent();
  const own = treeOf("abc");
  descent.grow(treeOf("ab"), own);
  descent.grow(own, treeOf("abcd"));
  expect(descent.lineFrom(own).holds).toBe(SIGNED);
  expect(descent.lineFrom(treeOf("abcd")).holds).toBe(SIGNED);
});

test("after a failed append the lineage continues from the tree before it", () => {
  const descent = signedDescent();
  descent.grow(treeOf("ab"), treeOf("abc"));
  descent.grow(treeOf("ab"), treeOf("abx"));
  expect(descent.lineFrom(treeOf("abx")).holds).toBe(SIGNED);
});

test("trees of other writers are unknown, and so are the trees grown from them", () => {
  const descent = signedDescent();
  expect(descent.lineFrom(treeOf("xy")).holds).toBeUndefined();
  const other = signedDescent();
  other.grow(treeOf("abx"), treeOf("abxy"));
  expect(other.lineFrom(treeOf("abxy")).holds).toBeUndefined();
});

test("a tree older than the signed one extends nothing", () => {
  const descent = signedDescent();
  descent.grow(treeOf("a"), treeOf("axy"));
  expect(descent.lineFrom(treeOf("axy")).holds).toBeUndefined();
});
