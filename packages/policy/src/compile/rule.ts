import type { JsonObject } from "@countersign/core";
import type { Aspect } from "../classify/facts.js";
import type { BlockHeader, OnBlock, PolicyDocument, PolicyMode } from "../document/model.js";
import type { Denial, ReasonCode } from "./decision.js";
import type { DecisionFacts } from "./facts.js";
import type { PolicyRuleId } from "./rule-meanings.js";

/** One compiled rule. `check` runs for every event; `saw` only for explanations. */
export type Rule = {
  readonly id: string;
  /** The block of the document it comes from. */
  readonly block: string;
  readonly mode: PolicyMode;
  /** Whether it evaluates each aspect of an event, or the event once. */
  readonly perAspect: boolean;
  check(facts: DecisionFacts, aspect: Aspect): Denial | undefined;
  saw(facts: DecisionFacts, aspect: Aspect): JsonObject;
};

/**
 * Creates the denials of one rule; called when the policy is compiled, so that blocking allocates
 * nothing.
 */
export type DenialMaker = (reasonCode: ReasonCode, reason: string) => Denial;

/** Mode, client notice and denials of a block, with the document's settings as defaults. */
export function blockSettings(
  document: PolicyDocument,
  header: BlockHeader | undefined,
): { mode: PolicyMode; onBlock: OnBlock } {
  return {
    mode: header?.mode ?? document.mode ?? "enforce",
    onBlock: header?.on_block ?? document.on_block ?? "drop",
  };
}

/** Whether a block exists and is enabled. */
export function isActive<Block extends BlockHeader>(block: Block | undefined): block is Block {
  return block !== undefined && block.enabled !== false;
}

/** The denials of a rule. */
export function denials(rule: PolicyRuleId, onBlock: OnBlock): DenialMaker {
  return (reasonCode, reason) => Object.freeze({ allow: false, rule, reason, reasonCode, onBlock });
}
