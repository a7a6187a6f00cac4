import { utf8Length } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { isRecord } from "./value.js";

/** The content that a summary replaces. */
export type SummaryReason =
  | "run_input"
  | "run_output"
  | "tool_arguments"
  | "tool_result"
  | "provider_error"
  | "rejection"
  | "workspace";

/**
 * How sizes are reported. An exact length lets a reader test guesses about the content, so the
 * default is an upper bound.
 */
export type SizeDetail = "bucket" | "exact" | "none";

/** The content of a summary. */
export type SummaryOptions = {
  readonly sizes?: SizeDetail;
  /** Names that a schema declares. Other member names may be data (a map keyed by e-mail). */
  readonly declaredKeys?: ReadonlySet<string>;
};

const MAX_KEYS = 64;

/** A replacement for a value that does not show it. */
export function summarise(
  value: unknown,
  reason: SummaryReason,
  options: SummaryOptions = {},
): JsonObject {
  const sizes = options.sizes ?? "bucket";
  const head = { redacted: true, reason };
  if (typeof value === "string") {
    return { ...head, type: "string", ...size("bytes", utf8Length(value), sizes, 16) };
  }
  if (Array.isArray(value)) {
    return { ...head, type: "array", ...size("items", value.length, sizes, 4) };
  }
  if (isRecord(value)) {
    const keys = declaredKeysOf(value, options.declaredKeys);
    return keys.length === 0 ? { ...head, type: "object" } : { ...head, type: "object", keys };
  }
  return { ...head, type: value === null ? "null" : typeof value };
}

/** Sorted by code unit, so that hashes are equal in every locale. */
function declaredKeysOf(
  value: Readonly<Record<string, unknown>>,
  declared: ReadonlySet<string> | undefined,
): string[] {
  if (declared === undefined) return [];
  const present = [...declared].filter((name) => Object.hasOwn(value, name));
  return present.sort().slice(0, MAX_KEYS);
}

function size(
  name: "bytes" | "items",
  count: number,
  detail: SizeDetail,
  first: number,
): JsonObject {
  if (detail === "none") return {};
  if (detail === "exact") return { [name]: count };
  let bound = first;
  while (bound < count) bound *= 4;
  return { [`${name}UpTo`]: bound };
}
