import type { JsonObject } from "@countersign/core";
import type { TokenUsage } from "../../model/run.js";
import type { FieldReader } from "../fields.js";
import type { NoteSink } from "../note.js";

const COUNTS = [
  ["input_tokens", "inputTokens"],
  ["output_tokens", "outputTokens"],
] as const;

/** `usage` of 0.1.0 as the one-element list of 1.0; nothing when absent. */
export function upgradeUsage(read: FieldReader, note: NoteSink): { usage?: JsonObject[] } {
  const given = read.object("usage");
  if (given === undefined) return {};
  const usage: JsonObject = {};
  for (const [old, name] of COUNTS) {
    const count = Object.hasOwn(given, old) ? given[old] : undefined;
    if (count === undefined) continue;
    if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) {
      read.refuse(`usage.${old}`, "a count");
    }
    usage[name] = count;
  }
  for (const key of Object.keys(given)) {
    if (key !== "input_tokens" && key !== "output_tokens") note("field-dropped", "/usage");
  }
  return { usage: [usage] };
}

/** The list of 1.0 as the one object of 0.1.0; counts of several models are added up. */
export function downgradeUsage(
  usage: readonly TokenUsage[] | undefined,
  note: NoteSink,
): { usage?: JsonObject } {
  if (usage === undefined || usage.length === 0) return {};
  if (usage.length > 1) note("usage-merged", "/usage");
  const sum: JsonObject = {};
  for (const [old, name] of COUNTS) {
    let total: number | undefined;
    // Absent is not zero: one model that does not say makes the total unknown.
    for (const entry of usage) {
      const count = entry[name];
      if (count === undefined) {
        total = undefined;
        break;
      }
      total = (total ?? 0) + count;
    }
    if (total !== undefined) sum[old] = total;
  }
  const kept = new Set(["inputTokens", "outputTokens"]);
  if (usage.some((entry) => Object.keys(entry).some((key) => !kept.has(key)))) {
    note("field-dropped", "/usage");
  }
  return { usage: sum };
}
