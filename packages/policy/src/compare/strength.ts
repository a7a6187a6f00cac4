import { blockSettings, isActive } from "../compile/rule.js";
import type { BlockHeader, OnBlock, PolicyDocument, PolicyMode } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import { compareText } from "./compare-values.js";

/** How much a rule can do: nothing, note what it would have blocked, or block. */
export type Strength = "off" | PolicyMode;

const STRENGTHS: readonly Strength[] = ["off", "observe", "enforce"];

/** The strength of an optional block: one that is not there, or switched off, has none. */
export function strengthOf(document: PolicyDocument, block: BlockHeader | undefined): Strength {
  return isActive(block) ? blockSettings(document, block).mode : "off";
}

/** Compares how much a rule can do. */
export function compareStrength(
  setting: string,
  before: Strength,
  after: Strength,
): PolicyChange[] {
  if (before === after) return [];
  const isStronger = STRENGTHS.indexOf(after) > STRENGTHS.indexOf(before);
  const effect = isStronger ? "stricter" : "looser";
  const kind = before === "off" ? "added" : after === "off" ? "removed" : "changed";
  return [{ setting, kind, effect, says: `${before} → ${after}` }];
}

/**
 * Compares two optional blocks: their strength, what clients see of a block, and, where both are on, what they say.
 * A block that only observes is compared as if it blocked: what it would let through one day is what its readers ask.
 */
export function compareBlocks<Block extends BlockHeader>(
  documents: readonly [before: PolicyDocument, after: PolicyDocument],
  blocks: readonly [before: Block | undefined, after: Block | undefined],
  compare: (before: Block, after: Block) => PolicyChange[],
): PolicyChange[] {
  const [before, after] = blocks;
  const mode = compareStrength(
    "mode",
    strengthOf(documents[0], before),
    strengthOf(documents[1], after),
  );
  if (!isActive(before) || !isActive(after)) return mode;
  const seen = compareOnBlock(
    blockSettings(documents[0], before).onBlock,
    blockSettings(documents[1], after).onBlock,
  );
  return [...mode, ...compare(before, after), ...seen];
}

/** What clients see of a block changes nothing about what passes. */
export function compareOnBlock(before: OnBlock, after: OnBlock): PolicyChange[] {
  return compareText("on_block", before, after, "same");
}
