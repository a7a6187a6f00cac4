import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";

/** Whether a part is one of the typed media parts of 1.0. */
export function isMediaPart(part: JsonObject): boolean {
  const type = ownMember(part, "type");
  return type === "image" || type === "audio" || type === "video" || type === "document";
}

/**
 * The typed media parts of one list, found by what they hold. Comparing each binary part with each
 * other part would let a list of 200,000 parts (10 MB) cost 40 thousand million comparisons.
 */
export class MediaIndex {
  readonly #parts: readonly JsonValue[];
  #keys: Set<string> | undefined;

  constructor(parts: readonly JsonValue[]) {
    this.#parts = parts;
  }

  /** Whether the list holds the same attachment, under the same file name when there is one. */
  has(part: JsonObject): boolean {
    this.#keys ??= keysOf(this.#parts);
    const named = filenameOf(part);
    const key = keyOf(part, named);
    return key !== undefined && this.#keys.has(key);
  }
}

function keysOf(parts: readonly JsonValue[]): Set<string> {
  const keys = new Set<string>();
  for (const part of parts) {
    if (!isJsonObject(part) || !isMediaPart(part)) continue;
    for (const name of [undefined, filenameOf(part)]) {
      const key = keyOf(part, name);
      if (key !== undefined) keys.add(key);
    }
  }
  return keys;
}

/** A key that is equal for parts with equal content; `undefined` when a member is not a string. */
function keyOf(part: JsonObject, filename: JsonValue | undefined): string | undefined {
  const source = ownMember(part, "source");
  if (!isJsonObject(source)) return undefined;
  const members = ["type", "value", "mimeType"].map((name) => ownMember(source, name));
  if (members.some((member) => typeof member !== "string")) return undefined;
  return JSON.stringify([part["type"], ...members, ...(filename === undefined ? [] : [filename])]);
}

function filenameOf(part: JsonObject): JsonValue | undefined {
  const metadata = ownMember(part, "metadata");
  return isJsonObject(metadata) ? ownMember(metadata, "filename") : undefined;
}
