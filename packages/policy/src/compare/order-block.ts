import { ORDER_RULES } from "@countersign/wire/order";
import type { DefaultAction, OrderBlock, PolicyDocument } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import { compareChoice } from "./compare-values.js";
import { compareBlocks } from "./strength.js";

const ACTIONS = ["allow", "block"] as const;
const SEVERITIES: ReadonlyMap<string, string> = new Map(
  Object.entries(ORDER_RULES).map(([id, { severity }]) => [id, severity]),
);

/** Compares `ag_ui_order`, whose defaults apply without the block. */
export function compareOrder(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  return compareBlocks(
    [before, after],
    [before.rules.ag_ui_order ?? {}, after.rules.ag_ui_order ?? {}],
    (old, now) => {
      const named = new Set([...Object.keys(old.rules ?? {}), ...Object.keys(now.rules ?? {})]);
      return [
        ...compareChoice("on_error", old.on_error ?? "block", now.on_error ?? "block", ACTIONS),
        ...compareChoice(
          "on_warning",
          old.on_warning ?? "allow",
          now.on_warning ?? "allow",
          ACTIONS,
        ),
        ...[...named].flatMap((rule) =>
          compareChoice(`rules ${rule}`, actionOn(old, rule), actionOn(now, rule), ACTIONS),
        ),
      ];
    },
  );
}

function actionOn(block: OrderBlock, rule: string): DefaultAction {
  const isWarning = SEVERITIES.get(rule) === "warning";
  const otherwise = isWarning ? (block.on_warning ?? "allow") : (block.on_error ?? "block");
  const own = block.rules;
  return own !== undefined && Object.hasOwn(own, rule) ? (own[rule] ?? otherwise) : otherwise;
}
