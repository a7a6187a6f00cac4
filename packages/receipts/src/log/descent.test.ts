import { expect, test } from "vitest";
import { createTreeBuilder } from "../merkle/tree.js";
import type { StoreHead } from "../store/store.js";
import { Descent } from "./descent.js";

/** A tree of leaves that are told apart by their names. */
function treeOf(leaves: string): StoreHead {
  const tree = createTreeBuilder();
  for (const leaf of leaves) tree.append(new Uint8Array(32).fill(leaf.charCodeAt(0)));
  return tree.frontier();
}
const SIGNED = { size: 2, root: new Uint8Array(32) };

/** A descent of which the tree `ab` was signed for. */
function signedDescent(): Descent {
  const descent = new Descent();
  descent.grow(treeOf("a"), treeOf("ab"));
  descent.lineFrom(treeOf("ab")).holds = SIGNED;
  return descent;
}

test("what a log made out of a tree that was signed for goes on from it, read again or not", () => {
  const descent = signedDescent();
  const own = treeOf("abc");
  descent.grow(treeOf("ab"), own);
  descent.grow(own, treeOf("abcd"));
  expect(descent.lineFrom(own).holds).toBe(SIGNED);
  expect(descent.lineFrom(treeOf("abcd")).holds).toBe(SIGNED);
});

test("after an append that failed the tree before it is gone on from", () => {
  const descent = signedDescent();
  descent.grow(treeOf("ab"), treeOf("abc"));
  descent.grow(treeOf("ab"), treeOf("abx"));
  expect(descent.lineFrom(treeOf("abx")).holds).toBe(SIGNED);
});

test("nothing is known of what others made, nor of what is made out of that", () => {
  const descent = signedDescent();
  expect(descent.lineFrom(treeOf("xy")).holds).toBeUndefined();
  const other = signedDescent();
  other.grow(treeOf("abx"), treeOf("abxy"));
  expect(other.lineFrom(treeOf("abxy")).holds).toBeUndefined();
});

test("a tree from before the one that was signed for is nobody's beginning", () => {
  const descent = signedDescent();
  descent.grow(treeOf("a"), treeOf("axy"));
  expect(descent.lineFrom(treeOf("axy")).holds).toBeUndefined();
});
