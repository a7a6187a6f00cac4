import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { enforceInput } from "@countersign/wire/enforce";
import type { Finding } from "./finding.js";
import { pointerTo } from "./pointer.js";

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
  const isText = translated !== raw && isJsonObject(raw) && Object.hasOwn(raw, "message");
  if (unknown === undefined && !(isText && Object.keys(raw).length > 1)) return [];
  const at = unknown === undefined ? "" : pointerOf(unknown.path);
  const reason = "AG-UI does not define a part of the request";
  return [
    {
      check: "unknown_keys",
      code: "ERR_INBOUND_UNKNOWN_KEY",
      reason,
      ...(at === "" ? {} : { at }),
    },
  ];
}

function pointerOf(path: string): string {
  const steps = path.split("/").slice(1);
  return pointerTo(...steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step)));
}
