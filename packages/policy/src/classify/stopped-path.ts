import type { JsonValue } from "@countersign/core";

/** Maximum evaluations of one search: naming a path must not cost more than the decision. */
const MAX_QUESTIONS = 64;

/**
 * The path of the innermost part that is blocked alone while a sibling is not; if everything is
 * blocked, the value itself.
 *
 * @param isStopped evaluates values of which only one part is left
 */
export function stoppedPath(
  value: JsonValue,
  isStopped: (alone: JsonValue) => boolean,
): readonly string[] {
  let questions = 0;
  const path: string[] = [];
  let inner = value;
  for (;;) {
    // A list is one unit: its positions have no meaning alone.
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return path;
    const entries = Object.entries(inner);
    let stopped: [string, JsonValue] | undefined;
    let hasPassed = false;
    for (const [key, part] of entries) {
      questions += 1;
      if (questions > MAX_QUESTIONS) return path;
      if (!isStopped(alone([...path, key], part))) hasPassed = true;
      else stopped ??= [key, part];
      if (hasPassed && stopped !== undefined) break;
    }
    if (stopped === undefined || (!hasPassed && entries.length > 1)) return path;
    path.push(stopped[0]);
    [, inner] = stopped;
  }
}

function alone(path: readonly string[], part: JsonValue): JsonValue {
  // A key may be `__proto__`, which only fromEntries treats as a key.
  return path.reduceRight<JsonValue>((value, key) => Object.fromEntries([[key, value]]), part);
}

/** A path as a JSON Pointer (RFC 6901). */
export function toPointer(path: readonly string[]): string {
  return path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
