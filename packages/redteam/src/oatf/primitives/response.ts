import type { JsonValue } from "@countersign/core";
import type { ResponseEntry } from "../model/document.js";
import type { ConditionOptions } from "./condition.js";
import { evaluatePredicate } from "./predicate.js";

/**
 * The entry a dispatch list answers with: the first whose `when` holds; the entry without `when` only if
 * none did, wherever it stands; else `null`.
 */
export function selectResponse<Entry extends ResponseEntry>(
  entries: readonly Entry[],
  payload: JsonValue,
  options: ConditionOptions = {},
): Entry | null {
  let fallback: Entry | null = null;
  for (const entry of entries) {
    if (entry.when === undefined) fallback ??= entry;
    else if (evaluatePredicate(entry.when, payload, options)) return entry;
  }
  return fallback;
}
