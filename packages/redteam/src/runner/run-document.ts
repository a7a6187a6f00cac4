import { isCountersignError } from "@countersign/core";
import { evaluateAttack, extractProtocol, prefetchSemanticScores } from "../oatf/index.js";
import type { AttackResult, NormalizedDocument, Verdict } from "../oatf/index.js";
import type { RunnerOptions } from "./options.js";
import { performDocument, PERFORMED_MODE } from "./perform.js";
import type { Performance } from "./perform.js";
import { isDeliberate } from "./refusal.js";
import { WIRE } from "./trace-recorder.js";

/** How one document ended: as OATF says, or because nothing here performs its mode. */
export type Outcome = AttackResult | "unsupported";

/** A document performed and judged. */
export type DocumentResult = {
  readonly outcome: Outcome;
  /** Why the outcome is what it is, where the verdict alone does not say it. */
  readonly reason?: string;
  /** The target, or a gateway in front of it, said no: by a refusal, an error event or a notice. */
  readonly stopped: boolean;
  readonly verdict?: Verdict;
  readonly performance?: Performance;
};

/** Performs a document and judges it. Never throws on what the document or the target does. */
export async function runDocument(
  document: NormalizedDocument,
  options: RunnerOptions,
): Promise<DocumentResult> {
  try {
    const performed = await performDocument(document, options);
    return judge(performed, options, await judgeTrace(document, performed, options));
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    const outcome = error.code === "ERR_REDTEAM_MODE" ? "unsupported" : "error";
    return { outcome, reason: `${error.message} (${error.code})`, stopped: false };
  }
}

async function judgeTrace(
  document: NormalizedDocument,
  { trace }: Performance,
  options: RunnerOptions,
): Promise<Verdict> {
  const protocol = extractProtocol(PERFORMED_MODE) ?? "";
  const evaluation = { ...options.evaluation, protocols: new Set([protocol]) };
  if (options.semantic === undefined) return evaluateAttack(document, trace, evaluation);
  const indicators = document.attack.indicators ?? [];
  const semantic = await prefetchSemanticScores(indicators, trace, options.semantic, evaluation);
  return evaluateAttack(document, trace, { ...evaluation, semantic });
}

/** A match stands however the run ended; a miss counts only when the target had its say. */
function judge(performed: Performance, options: RunnerOptions, verdict: Verdict): DocumentResult {
  const stopped = performed.refusals.some(isDeliberate) || saidNo(performed);
  const result = { stopped, verdict, performance: performed };
  if (verdict.result !== "not_exploited") {
    const { diagnostic } = verdict;
    return {
      ...result,
      outcome: verdict.result,
      ...(diagnostic === undefined ? {} : { reason: diagnostic }),
    };
  }
  const problem = incomplete(performed, options);
  if (problem !== undefined) return { ...result, outcome: "error", reason: problem };
  return { ...result, outcome: "not_exploited" };
}

function saidNo({ trace, receipts }: Performance): boolean {
  if (receipts.length > 0) return true;
  return trace.some(({ event, direction }) => direction === "response" && event === "run_error");
}

function incomplete(performed: Performance, options: RunnerOptions): string | undefined {
  const { failures, refusals, trace, truncated } = performed;
  const [failure] = failures;
  if (failure !== undefined) return `${failure.message} (${failure.code})`;
  if (truncated) return "the trace reached a bound and is not whole";
  const accidental = refusals.find((refusal) => !isDeliberate(refusal));
  if (accidental !== undefined) return `the target answered with status ${accidental.status}`;
  const answered = trace.some(
    ({ direction, protocol }) => direction === "response" && protocol !== WIRE,
  );
  if (answered) return undefined;
  const [refusal] = refusals;
  if (refusal === undefined) return "the target sent no event";
  if (options.refusalsCount === true) return undefined;
  return `the target refused (status ${refusal.status}), and nothing shows that it answers anybody`;
}
