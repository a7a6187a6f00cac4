import { isCountersignError } from "@countersign/core";
import { findMisjudgedExamples, prefetchSemanticScores } from "../oatf/evaluate/prefetch.js";
import { evaluateAttack, extractProtocol } from "../oatf/index.js";
import type {
  AttackResult,
  NormalizedActor,
  NormalizedDocument,
  NormalizedIndicator,
  Verdict,
} from "../oatf/index.js";
import { findUnanswered } from "./answered.js";
import { withFreshIds } from "./fresh-ids.js";
import { describeGaps } from "./gap.js";
import type { Gap } from "./gap.js";
import { isServer } from "./mode.js";
import type { RunnerOptions } from "./options.js";
import { executeDocument } from "./execute-document.js";
import type { ExecutionResult } from "./execute-document.js";
import { isDeliberate, isRefusalEvent } from "./refusal.js";
import { indicatorGap, unseenWords } from "./indicator-gap.js";

/** How one document ended: as OATF says, or because nothing here performs all of it. */
export type Outcome = AttackResult | "unsupported";

/** The result of executing and evaluating a document. */
export type DocumentResult = {
  readonly outcome: Outcome;
  /** Why the outcome is what it is, where the verdict alone does not say it. */
  readonly reason?: string;
  /** The target, or a gateway in front of it, said no: by a refusal, an error event or a notice. */
  readonly stopped: boolean;
  /** The steps that did not happen. With any of them, an attack without a match is not a defence. */
  readonly gaps: readonly Gap[];
  readonly verdict?: Verdict;
  readonly execution?: ExecutionResult;
};

/** Performs a document and judges it. Never throws on what the document or the target does. */
export async function runDocument(
  document: NormalizedDocument,
  options: RunnerOptions,
): Promise<DocumentResult> {
  try {
    const { document: fresh, replaced } = withFreshIds(document);
    const done = await executeDocument(fresh, options);
    const notes = [...replaced].map(([id, sent]) => ({
      code: "CS-011",
      message: `the id ${id.slice(0, 64)} is sent as ${sent.slice(0, 80)}`,
    }));
    const execution = { ...done, notes: [...notes, ...done.notes] };
    const evaluation = await evaluateTrace(fresh, execution, options);
    return buildResult(fresh, execution, options, evaluation);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    const outcome = error.code === "ERR_REDTEAM_MODE" ? "unsupported" : "error";
    const kind = outcome;
    const reason = `${error.message} (${error.code})`;
    return { outcome, reason, stopped: false, gaps: [{ kind, message: reason }] };
  }
}

type Evaluation = { readonly verdict: Verdict; readonly misjudged: ReadonlyMap<string, string> };

async function evaluateTrace(
  document: NormalizedDocument,
  { trace, protocols }: ExecutionResult,
  options: RunnerOptions,
): Promise<Evaluation> {
  const evaluation = { ...options.evaluation, protocols };
  if (options.semantic === undefined) {
    return { verdict: evaluateAttack(document, trace, evaluation), misjudged: new Map() };
  }
  const indicators = document.attack.indicators ?? [];
  const misjudged = await findMisjudgedExamples(indicators, options.semantic);
  const semantic = await prefetchSemanticScores(indicators, trace, options.semantic, evaluation);
  return { verdict: evaluateAttack(document, trace, { ...evaluation, semantic }), misjudged };
}

/**
 * A match stands however the run ended. A miss counts only when every payload was delivered and answered, and every
 * indicator could have matched.
 */
function buildResult(
  document: NormalizedDocument,
  execution: ExecutionResult,
  options: RunnerOptions,
  { verdict, misjudged }: Evaluation,
): DocumentResult {
  const stopped = execution.refusals.some(isDeliberate) || hasRefusal(execution);
  const result = { stopped, verdict, execution };
  const gaps = [
    ...execution.gaps,
    ...blindSpots(document, verdict, options),
    ...[...misjudged].map(([id, why]): Gap => ({
      kind: "error",
      message: `indicator ${id}: ${why}`,
    })),
  ];
  if (gaps.length === 0) gaps.push(...silence(document, execution, verdict, stopped));
  const reason = gaps.length === 0 ? {} : { reason: describeGaps(gaps) };
  if (verdict.result === "exploited" || verdict.result === "partial") {
    return {
      ...result,
      outcome: verdict.result,
      gaps,
      ...(verdict.result === "partial" ? reason : {}),
    };
  }
  return { ...result, outcome: outcomeOf(gaps), gaps, ...reason };
}

/** Why the absence of what the indicators look for is not the agent's answer. */
function silence(
  { attack }: NormalizedDocument,
  { trace }: ExecutionResult,
  { indicator_verdicts: verdicts }: Verdict,
  stopped: boolean,
): Gap[] {
  const indicators = attack.indicators ?? [];
  const unanswered = findUnanswered(indicators, verdicts, trace);
  if (unanswered !== undefined) return [{ kind: "cut_short", message: unanswered }];
  // A rejection has no words of the agent.
  if (stopped) return [];
  const unseen = unseenWords(indicators, verdicts, (indicator) =>
    incomingDirections(attack.execution.actors, indicator),
  );
  if (unseen === undefined) return [];
  const message = `no message had ${unseen}, and no other indicator had a message to evaluate`;
  return [{ kind: "cut_short", message }];
}

/** The directions in which the agent sends messages of the protocol of an indicator to the actors that it looks at. */
function incomingDirections(
  actors: readonly NormalizedActor[],
  { protocol, actor }: NormalizedIndicator,
): ReadonlySet<string> {
  return new Set(
    actors
      .filter(({ name, mode }) => extractProtocol(mode) === protocol && (actor ?? name) === name)
      .map(({ mode }) => (isServer(mode) ? "request" : "response")),
  );
}

function outcomeOf(gaps: readonly Gap[]): Outcome {
  if (gaps.length === 0) return "not_exploited";
  return gaps.every(({ kind }) => kind === "unsupported") ? "unsupported" : "error";
}

function blindSpots(
  { attack }: NormalizedDocument,
  { indicator_verdicts: verdicts }: Verdict,
  { strict }: RunnerOptions,
): Gap[] {
  const extractors = new Set(
    attack.execution.actors.flatMap(({ phases }) =>
      phases.flatMap((phase) => (phase.extractors ?? []).map(({ name }) => name)),
    ),
  );
  return (attack.indicators ?? []).flatMap((indicator, index) => {
    const verdict = verdicts[index];
    if (verdict === undefined) return [];
    const incoming = incomingDirections(attack.execution.actors, indicator);
    const options = { joined: strict !== true, extractors, incoming };
    return indicatorGap(indicator, verdict, options) ?? [];
  });
}

function hasRefusal({ trace, receipts }: ExecutionResult): boolean {
  if (receipts.length > 0) return true;
  return trace.some(
    ({ event, direction, content }) =>
      direction === "response" && event === "run_error" && isRefusalEvent(content),
  );
}
