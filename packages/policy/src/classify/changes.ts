import type { JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import { splitPointer } from "../patterns/pointer-glob.js";
import { CLIENT_PATCH_LIMITS } from "./client-state.js";
import { changedPaths, MAX_CHANGES } from "./difference.js";
import { asReadByClients } from "./state.js";
import { touchedPart } from "./touched-part.js";

/**
 * The changes that conditions see when a value replaces another: every added, removed or replaced
 * path.
 * @throws Error when the value before is unknown, or there are too many
 */
export function snapshotChanges(before: JsonValue | undefined, after: JsonValue): JsonValue {
  if (before === undefined) throw new TypeError("the client's value is unknown");
  return changedPaths(before, after);
}

/**
 * The changes that conditions see of a patch: its operations as sent, then every path that they
 * add, remove or replace. They include all changes of a snapshot of the result. A patch that does
 * not apply changes nothing; it is shown with the paths below its values.
 * @throws Error when the value before is unknown, or clients may read the patch in another way
 */
export function patchChanges(before: JsonValue | undefined, patch: JsonPatch): JsonValue {
  if (before === undefined) throw new TypeError("the client's value is unknown");
  const sent = patch as JsonValue[];
  const part = touchedPart(before, patch);
  const result = applyJsonPatch(part, patch, CLIENT_PATCH_LIMITS, 0);
  if (result.applied) return [...sent, ...changedPaths(part, result.document)];
  if (!isReadAlike(patch)) throw new TypeError("the patch does not apply");
  let room = MAX_CHANGES;
  return sent.concat(
    patch.flatMap((operation) => {
      if (!("value" in operation)) return [];
      const below = changedPaths({}, { "": operation.value }).slice(1);
      room -= below.length;
      if (room < 0) throw new RangeError("too many changes");
      return below.map((change) => ({
        ...change,
        path: `${operation.path}${String(change["path"]).slice(1)}`,
      }));
    }),
  );
}

// Whether the official client reads the patch as we do. Ours are stricter for list positions
// outside RFC 6901 and for transfers (docs/wire/differences.md, P1 to P3).
function isReadAlike(patch: JsonPatch): boolean {
  return patch.every(
    (operation) =>
      !("from" in operation) && asReadByClients(splitPointer(operation.path)) === undefined,
  );
}
