import { blockSettings, isActive } from "../compile/rule.js";
import type { BlockHeader, OnBlock, PolicyDocument, PolicyMode } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import { compareText } from "./compare-values.js";

/** The mode of a rule: off, observe or block. */
export type Strength = "off" | PolicyMode;

const STRENGTHS: readonly Strength[] = ["off", "observe", "enforce"];

/** The strength of an optional block: a missing or disabled one has none. */
export function strengthOf(document: PolicyDocument, block: BlockHeader | undefined): Strength {
  return isActive(block) ? blockSettings(document, block).mode : "off";
}

/** Compares the modes of a rule. */
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
 * Compares two optional blocks: their strength, the client's view of a block, and, if both are on,
 * their settings. A block in observe mode is compared as if it blocked: its readers want to know
 * what it will allow in enforce mode.
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

/** The client's view of a block does not affect what passes. */
export function compareOnBlock(before: OnBlock, after: OnBlock): PolicyChange[] {
  return compareText("on_block", before, after, "same");
}
