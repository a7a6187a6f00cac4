import type { ErrorCode } from "@countersign/core";
import { isRunLimit } from "../event/run-limits.js";
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

/** Whether a code ends a stream that has begun: no response has a status for it. */
function endsStream(code: string): boolean {
  return isRunLimit(code) || code === "ERR_ENVELOPE_NOT_CONFIGURED";
}

/** Explains the code of a rejected request; `undefined` for codes that no client gets. */
export function explainCode(code: string): CodeMeaning | undefined {
  const remedy = remedyOf(code);
  if (remedy === undefined) return undefined;
  const opening = openingOfCode(code);
  const told = { remedy, opening };
  const isResponse = code.startsWith("ERR_") && !endsStream(code);
  return isResponse ? { ...statusOf(code as ErrorCode), ...told } : told;
}
