import type { JsonValue } from "@countersign/core";
import type { MatchPredicate } from "../model/document.js";
import type { ConditionOptions } from "./condition.js";
import { compileCondition, falseOnFailure, presenceOf } from "./condition.js";
import { resolveSimplePath } from "./path.js";

/**
 * Whether a message satisfies every entry of a predicate. A path that leads nowhere is `false`, except
 * under `{exists: false}` alone; `exists: false` beside another operator can never hold.
 */
export function evaluatePredicate(
  predicate: MatchPredicate,
  message: JsonValue,
  options: ConditionOptions = {},
): boolean {
  return falseOnFailure(
    () =>
      Object.entries(predicate).every(([path, condition]) => {
        const value = resolveSimplePath(path, message);
        const presence = presenceOf(condition);
        if (value === undefined) return presence.exists === false && presence.alone;
        return presence.exists !== false && compileCondition(condition)(value);
      }),
    options,
  );
}
