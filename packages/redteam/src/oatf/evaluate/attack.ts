import { CountersignError } from "@countersign/core";
import type { NormalizedDocument } from "../model/normalized.js";
import type { EvaluationOptions } from "./indicator.js";
import { evaluateIndicator } from "./indicator.js";
import type { TraceEntry } from "./trace.js";
import type { Verdict } from "./verdict.js";
import { computeVerdict } from "./verdict.js";

/** Milliseconds the indicators of one document may take together. */
export const MAX_DOCUMENT_MILLISECONDS = 30_000;

/**
 * Evaluates every indicator of a document over a trace and joins the answers.
 *
 * @throws CountersignError ERR_OATF_NO_INDICATORS when the document can only be performed, not judged
 */
export function evaluateAttack(
  document: NormalizedDocument,
  trace: readonly TraceEntry[],
  options: EvaluationOptions = {},
): Verdict {
  const { attack } = document;
  if (attack.indicators === undefined || attack.indicators.length === 0) {
    throw new CountersignError(
      "ERR_OATF_NO_INDICATORS",
      "the document has no indicators, so its outcome cannot be judged",
      { attack: attack.id ?? attack.name },
    );
  }
  const deadline = performance.now() + MAX_DOCUMENT_MILLISECONDS;
  const isExpired = options.isExpired ?? (() => performance.now() > deadline);
  const verdicts = attack.indicators.map((indicator) =>
    evaluateIndicator(indicator, trace, { ...options, isExpired }),
  );
  return computeVerdict(attack, verdicts, options);
}
