import type { JsonObject, JsonValue } from "@countersign/core";
import { enforceInput } from "@countersign/wire/enforce";
import type { Finding } from "./finding.js";

/**
 * Finds what AG-UI does not define in a request: a key or a member of a union that one reader drops and
 * another obeys.
 *
 * @param raw the body as it came
 * @param translated the same in the names of AG-UI 1.0
 */
export function reviewKeys(raw: JsonValue, translated: JsonValue): Finding[] {
  const { notes } = enforceInput(translated);
  const unknown = notes.find(({ kind }) => kind !== "nullOmitted");
  // The oldest dialect's request is one text; its translation takes nothing else along.
  const isText = translated !== raw && isObject(raw) && Object.hasOwn(raw, "message");
  if (unknown === undefined && !(isText && Object.keys(raw).length > 1)) return [];
  const reason = `AG-UI does not define a part of the request at ${parentOf(unknown?.path ?? "")}`;
  return [{ check: "unknown_keys", code: "ERR_INBOUND_UNKNOWN_KEY", reason }];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Where it stands; the key itself is the client's word and stays out of messages. */
function parentOf(path: string): string {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  return parent === "" ? "its top" : parent;
}
