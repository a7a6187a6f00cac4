import type { JsonValue } from "@countersign/core";
import jsonpatch from "fast-json-patch";
import type { JsonPatch } from "../model/event.js";

/** The patched document, or `undefined` when the patch is refused. */
export type OfficialPatchResult = { document: JsonValue | undefined } | undefined;

/** Applies a patch as the official client does: validated, on a copy, prototypes banned. */
export function officialPatch(document: JsonValue, patch: JsonPatch): OfficialPatchResult {
  try {
    const operations = structuredClone(patch) as unknown as Parameters<
      typeof jsonpatch.applyPatch
    >[1];
    const { newDocument } = jsonpatch.applyPatch(document, operations, true, false);
    return { document: newDocument as JsonValue | undefined };
  } catch {
    return undefined;
  }
}
