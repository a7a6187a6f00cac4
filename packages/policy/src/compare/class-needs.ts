import { DEFAULT_RESTRICTED } from "../compile/capability-rules.js";
import { isActive } from "../compile/rule.js";
import type { AgUiBlock, PolicyDocument } from "../document/model.js";
import { CLASSIFICATIONS } from "../vocabulary/classification.js";
import type { Classification } from "../vocabulary/classification.js";
import type { Direction } from "../classify/facts.js";
import type { PolicyChange } from "./change.js";
import { compareChoice } from "./compare-values.js";
import type { Effect } from "./effect.js";

/** The requirements of a class, the least first. */
export const NEEDS = ["nothing", "any token", "a token with its scope"] as const;

/** One of these requirements. */
export type Need = (typeof NEEDS)[number];

/** The requirement of a class that `ag_ui` and `ag_ui_inbound` define together. */
export function needOf(
  document: PolicyDocument,
  direction: Direction,
  classification: Classification,
): Need {
  const block: AgUiBlock = document.rules.ag_ui ?? {};
  const restricted = block.restricted_classifications ?? DEFAULT_RESTRICTED;
  const otherwise: Need = block.allow_display_without_capability === true ? "nothing" : "any token";
  const plain: Need = restricted.includes(classification) ? "a token with its scope" : otherwise;
  const inbound = document.rules.ag_ui_inbound;
  if (direction === "outbound" || !isActive(inbound)) return plain;
  if (inbound.allow_classifications?.includes(classification) === true) return "nothing";
  return inbound.default === "allow" ? plain : "a token with its scope";
}

/** Compares the requirements of each class in one direction. */
export function compareNeeds(
  before: PolicyDocument,
  after: PolicyDocument,
  direction: Direction,
): PolicyChange[] {
  return CLASSIFICATIONS.flatMap((name) =>
    compareChoice(
      `${direction} ${name}`,
      needOf(before, direction, name),
      needOf(after, direction, name),
      NEEDS,
    ),
  );
}

/** The effect of replacing one requirement with another. */
export function compareNeedRanks(before: number | undefined, after: number | undefined): Effect {
  // No requirement is the loosest, whatever the other side is.
  if (after === 0) return before === 0 ? "same" : "looser";
  if (before === 0) return "stricter";
  if (before === 1 && after === 1) return "same";
  // Two classes that need their own scope are allowed by different tokens.
  if (before === undefined || after === undefined || before === after) return "both";
  return after < before ? "looser" : "stricter";
}
