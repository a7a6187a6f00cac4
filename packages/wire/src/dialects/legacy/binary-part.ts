import { ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { LegacyContext } from "./context.js";
import type { MediaIndex } from "./media-index.js";

const MEDIA_PREFIX = /^(image|audio|video)\//u;

/**
 * Translates a `binary` part into the typed media part of 1.0.
 *
 * Returns nothing when the part only names an id, because no source kind of 1.0 means that id. It
 * also returns nothing when the message has the same attachment as a typed part: producers wrote
 * both, and the attachment must not appear twice.
 *
 * Members keep their values; enforcement refuses those that do not fit.
 */
export function upgradePart(
  part: JsonObject,
  typed: MediaIndex,
  path: string,
  context: LegacyContext,
): JsonObject | undefined {
  const mimeType = ownMember(part, "mimeType");
  if (ownMember(part, "type") !== "binary" || typeof mimeType !== "string") return part;
  const inline = isPresent(ownMember(part, "data"));
  const value = ownMember(part, inline ? "data" : "url");
  const filename = ownMember(part, "filename");
  if (value === undefined || !isPresent(value)) {
    context.note("binary-part-removed", path);
    return undefined;
  }
  const upgraded: JsonObject = {
    type: MEDIA_PREFIX.exec(mimeType)?.[1] ?? "document",
    source: { type: inline ? "data" : "url", value, mimeType },
    ...(filename !== undefined && isPresent(filename) ? { metadata: { filename } } : {}),
  };
  if (typed.has(upgraded)) {
    context.note("binary-part-mirrored", path);
    return undefined;
  }
  context.note("binary-part-upgraded", path);
  return upgraded;
}

/** Older producers wrote empty text for absent. */
function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== "" && value !== 0 && value !== false;
}
