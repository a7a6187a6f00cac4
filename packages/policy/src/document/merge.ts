import type { JsonObject, JsonValue } from "@countersign/core";
import type { FileDocument } from "./fragment.js";
import { asObject } from "../base/json-object.js";

/** How a document is merged into the one it extends. */
export type MergeStrategy = "replace" | "merge" | "deep_merge";

/**
 * Merges a child into its base as HushSpec defines it: a block of the child replaces the whole
 * block of the base, omitted blocks are inherited, lists are never appended. Only inside
 * `extensions` does `deep_merge` go further.
 */
export function mergeFiles(base: FileDocument, child: FileDocument): FileDocument {
  const strategy = (child.header["merge_strategy"] ?? "deep_merge") as MergeStrategy;
  if (strategy === "replace") return child;
  const header: JsonObject = { ...base.header, ...child.header };
  const baseExtensions = asObject(base.header["extensions"]);
  const childExtensions = asObject(child.header["extensions"]);
  if (baseExtensions !== undefined || childExtensions !== undefined) {
    header["extensions"] =
      strategy === "merge"
        ? { ...baseExtensions, ...childExtensions }
        : mergeDeep(baseExtensions ?? {}, childExtensions ?? {});
  }
  return {
    header,
    rules: { ...base.rules, ...child.rules },
    rulesPointer: child.rulesPointer,
  };
}

function mergeDeep(base: JsonObject, child: JsonObject): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(child)) {
    const below = Object.hasOwn(base, key) ? base[key] : undefined;
    const left = asObject(below);
    const right = asObject(value);
    if (left !== undefined && right !== undefined) merged[key] = mergeDeep(left, right);
    else if (key === "profiles" && Array.isArray(below) && Array.isArray(value)) {
      merged[key] = mergeById(below, value);
    } else merged[key] = value;
  }
  return merged;
}

// Origin profiles are a list whose entries have an id; a child's profile replaces the base's.
function mergeById(base: readonly JsonValue[], child: readonly JsonValue[]): JsonValue[] {
  const idOf = (value: JsonValue): JsonValue | undefined => asObject(value)?.["id"];
  const replaced = new Set(child.map(idOf));
  return [...base.filter((entry) => !replaced.has(idOf(entry))), ...child];
}
