import type { JsonObject } from "@countersign/core";
import { ownMember } from "../json-object.js";
import type { LegacyContext } from "./context.js";

function mediaKind(mimeType: string): string {
  const kind = mimeType.slice(0, mimeType.indexOf("/"));
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

/**
 * A `binary` part as the typed media part of 1.0, or nothing when it only names an id: no source kind
 * of 1.0 means that id. A binary part with members of the wrong type is left for enforcement.
 */
export function upgradePart(
  part: JsonObject,
  path: string,
  context: LegacyContext,
): JsonObject | undefined {
  if (ownMember(part, "type") !== "binary") return part;
  const mimeType = ownMember(part, "mimeType");
  const data = ownMember(part, "data");
  const url = ownMember(part, "url");
  const filename = ownMember(part, "filename");
  if (typeof mimeType !== "string" || !optionalText(data) || !optionalText(url)) return part;
  if (!optionalText(filename)) return part;
  const inline = data !== undefined && data !== "";
  const value = inline ? data : url;
  if (value === undefined || value === "") {
    context.note("binary-part-removed", path);
    return undefined;
  }
  context.note("binary-part-upgraded", path);
  return {
    type: mediaKind(mimeType),
    source: { type: inline ? "data" : "url", value, mimeType },
    ...(filename === undefined || filename === "" ? {} : { metadata: { filename } }),
  };
}

function optionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
