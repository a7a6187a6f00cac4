import type { ErrorCode } from "@countersign/core";
import { statusOf } from "../http/refusal.js";
import type { Opening } from "@countersign/policy";
import { openingOfCode } from "./openings.js";
import { remedyOf } from "../http/remedies.js";

/** The meaning of a code in a problem document or a `RUN_ERROR`. */
export type CodeMeaning = {
  /** The HTTP status, for codes of rejected requests. */
  readonly status?: number;
  readonly title?: string;
  readonly remedy: string;
  readonly opening: Opening;
};

/** Explains the code of a rejected request; `undefined` for codes that no client gets. */
export function explainCode(code: string): CodeMeaning | undefined {
  const remedy = remedyOf(code);
  if (remedy === undefined) return undefined;
  const opening = openingOfCode(code);
  const told = { remedy, opening };
  return code.startsWith("ERR_") ? { ...statusOf(code as ErrorCode), ...told } : told;
}
