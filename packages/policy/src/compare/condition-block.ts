import { blockSettings, isActive } from "../compile/rule.js";
import type { ConditionRule, PolicyDocument } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import { compareText } from "./compare-values.js";
import { compareMatches, describeMatch } from "./match.js";
import { pairByName } from "./pairs.js";
import { compareOnBlock, compareStrength } from "./strength.js";

type Condition = ConditionRule & Required<Pick<ConditionRule, "mode" | "on_block">>;

/** Compares `ag_ui_conditions`, one condition at a time: each can only restrict. */
export function compareConditions(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  return pairByName(conditionsOf(before), conditionsOf(after), ({ id }) => id).flatMap(
    ({ name, before: old, after: now }) => compareCondition(name, old, now),
  );
}

function conditionsOf(document: PolicyDocument): Condition[] {
  const block = document.rules.ag_ui_conditions;
  if (!isActive(block)) return [];
  const { mode, onBlock } = blockSettings(document, block);
  return (block.rules ?? []).map((rule) => ({ mode, on_block: onBlock, ...rule }));
}

function compareCondition(
  id: string,
  before: Condition | undefined,
  after: Condition | undefined,
): PolicyChange[] {
  const strength = compareStrength(id, before?.mode ?? "off", after?.mode ?? "off");
  if (before === undefined || after === undefined) return strength;
  return [
    ...strength,
    ...compareText(
      `${id} match`,
      describeMatch(before.match),
      describeMatch(after.match),
      compareMatches(before.match, after.match),
    ),
    // In general it is undecidable which of two expressions blocks more.
    ...compareText(`${id} when`, before.when, after.when, "both"),
    ...compareText(`${id} effect`, before.effect ?? "block", after.effect ?? "block", "both"),
    ...compareText(`${id} reason`, before.reason ?? "none", after.reason ?? "none", "same"),
    ...compareOnBlock(before.on_block, after.on_block).map((change) => ({
      ...change,
      setting: `${id} ${change.setting}`,
    })),
  ];
}
