import type { ErrorCode } from "@countersign/core";
import { statusOf } from "../clients/refusal.js";
import { remedyOf } from "./remedies.js";

/** What a code in a problem document or a `RUN_ERROR` means. */
export type CodeMeaning = {
  /** Of codes that a request is refused with. */
  readonly status?: number;
  readonly title?: string;
  readonly remedy: string;
};

/** Explains the code of a refused request; nothing for codes that no client gets. */
export function explainCode(code: string): CodeMeaning | undefined {
  const remedy = remedyOf(code);
  if (remedy === undefined) return undefined;
  return code.startsWith("ERR_") ? { ...statusOf(code as ErrorCode), remedy } : { remedy };
}
