import { listJudgement, unknownAction } from "../compile/message-settings.js";
import { blockSettings } from "../compile/rule.js";
import type { PolicyDocument } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import { compareChoice } from "./compare-values.js";
import { compareOnBlock } from "./strength.js";

const ACTIONS = ["allow", "observe", "block"] as const;
const LISTS = ["open", "parts", "whole"] as const;
const SETTINGS = ["unknown_user", "unknown_system"] as const;

/** Compares `ag_ui_messages`, whose defaults apply without the block. */
export function compareMessages(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const says = ({ rules, ...document }: PolicyDocument, setting: (typeof SETTINGS)[number]) => {
    const action = unknownAction(rules.ag_ui_messages, setting);
    const { mode } = blockSettings({ rules, ...document }, rules.ag_ui_messages);
    return action === "block" && mode === "observe" ? "observe" : action;
  };
  return [
    ...compareChoice("lists", listJudgement(before), listJudgement(after), LISTS),
    ...SETTINGS.flatMap((setting) =>
      compareChoice(setting, says(before, setting), says(after, setting), ACTIONS),
    ),
    ...compareOnBlock(
      blockSettings(before, before.rules.ag_ui_messages).onBlock,
      blockSettings(after, after.rules.ag_ui_messages).onBlock,
    ),
  ];
}
