import type { JsonValue } from "@countersign/core";
import type { CelEvaluator } from "../cel/evaluator.js";
import { isDeeperThan } from "../json/values.js";
import { MAX_MESSAGE_DEPTH } from "../limits.js";
import { isJoined, isJoinedInto } from "../model/events.js";
import { knownProtocols } from "../model/modes.js";
import type { NormalizedIndicator } from "../model/normalized.js";
import type { EvaluationError } from "./evaluation-error.js";
import type { EvidenceOptions } from "./evidence.js";
import { describeMatch } from "./evidence.js";
import { evaluateExpression } from "./expression.js";
import type { Outcome } from "./outcome.js";
import { compilePattern } from "./pattern.js";
import type { SemanticEvaluator } from "./semantic.js";
import { evaluateSemantic } from "./semantic.js";
import type { TraceEntry } from "./trace.js";
import type { IndicatorVerdict } from "./verdict.js";

/** Options of an evaluation. */
export type EvaluationOptions = {
  /** Absent: the one we ship. `null`: none, so that expressions are skipped. */
  readonly cel?: CelEvaluator | null;
  /** Absent: semantic indicators are skipped. */
  readonly semantic?: SemanticEvaluator;
  /** Protocols the trace can hold; indicators of others are skipped. Default: all of OATF 0.1. */
  readonly protocols?: ReadonlySet<string>;
  readonly evidence?: EvidenceOptions;
  /** Milliseconds since 1970, for timestamps. */
  readonly now?: () => number;
  /** The evaluator, `countersign/x.y.z`. */
  readonly source?: string;
  /** Asked before each message; once it answers yes, what is left counts as errors. */
  readonly isExpired?: () => boolean;
};

/** The name verdicts carry when the caller gives none. */
export const DEFAULT_SOURCE = "countersign";

const TOO_DEEP: EvaluationError = {
  kind: "path_resolution",
  message: `the message is nested deeper than ${MAX_MESSAGE_DEPTH}`,
};
const EXPIRED: EvaluationError = {
  kind: "cel_error",
  message: "the time for this document is used up",
};

/**
 * Asks an indicator about a whole trace. Messages are filtered by protocol, surface, actor and direction;
 * of the answers the highest counts: matched, error, skipped, not matched. The first match ends the search.
 */
export function evaluateIndicator(
  indicator: NormalizedIndicator,
  trace: readonly TraceEntry[],
  options: EvaluationOptions = {},
): IndicatorVerdict {
  const verdict = (
    result: IndicatorVerdict["result"],
    evidence: string,
    more: Partial<IndicatorVerdict> = {},
  ): IndicatorVerdict => ({
    indicator_id: indicator.id,
    result,
    evidence,
    timestamp: new Date((options.now ?? Date.now)()).toISOString(),
    source: options.source ?? DEFAULT_SOURCE,
    ...more,
  });
  if (!(options.protocols ?? knownProtocols()).has(indicator.protocol)) {
    return verdict("skipped", `protocol ${indicator.protocol} is not supported`);
  }
  const detect = createDetector(indicator, options);
  const examine = (content: JsonValue): Outcome => {
    if (options.isExpired?.() === true) return { result: "error", error: EXPIRED };
    if (isDeeperThan(content, MAX_MESSAGE_DEPTH)) return { result: "error", error: TOO_DEEP };
    return detect(content);
  };
  let eligible = 0;
  let lookedAt = 0;
  let failures = 0;
  let firstFailure: EvaluationError | undefined;
  for (const entry of trace) {
    if (!isEligible(indicator, entry)) continue;
    eligible += 1;
    const outcome = examine(entry.content);
    if (outcome.result === "matched") {
      const { detail } = outcome;
      const match = {
        seq: entry.seq,
        event: entry.event,
        ...(detail.path === undefined ? {} : { path: detail.path }),
      };
      const evidence = describeMatch(entry, detail, options.evidence) + failureNote(failures);
      return verdict("matched", evidence, {
        match,
        ...(isJoined(entry.event) ? { source: "accumulated", diagnostics: ["CS-006"] } : {}),
      });
    }
    // Without its evaluator the indicator has no other answer on any message.
    if (outcome.result === "skipped") return verdict("skipped", outcome.reason);
    if (outcome.result === "not_matched" && outcome.absent !== true && !isOwnRequest(entry)) {
      lookedAt += 1;
    }
    if (outcome.result === "error" && counts(indicator, entry)) {
      failures += 1;
      firstFailure ??= outcome.error;
    }
  }
  if (firstFailure !== undefined) {
    const evidence = `${firstFailure.kind}: ${firstFailure.message}${failureNote(failures)}`;
    return verdict("error", evidence, { error: firstFailure });
  }
  const absence = lookedAt > 0 ? "" : `, no message had ${describeTarget(indicator)}`;
  const evidence = eligible === 0 ? "no eligible messages" : `${eligible} messages`;
  return verdict("not_matched", evidence + absence, { looked_at: lookedAt });
}

/** The path an indicator looks at, as reports name it. */
export function describeTarget(indicator: NormalizedIndicator): string {
  const { surface, pattern, semantic, expression } = indicator;
  const where = surface === undefined ? "" : ` in ${surface}`;
  if (expression !== undefined) return `what its expression reads${where}`;
  const target = pattern?.target ?? semantic?.target ?? indicator.target;
  return target === "" ? `content${where}` : `${target}${where}`;
}

/** Text of the document itself proves nothing about the agent. */
function isOwnRequest({ direction, event, isOwn }: TraceEntry): boolean {
  if (isOwn === true) return true;
  return direction === "request" && event === "run_agent_input";
}

function failureNote(failures: number): string {
  return failures === 0 ? "" : ` (${failures} messages could not be evaluated)`;
}

function isEligible(indicator: NormalizedIndicator, entry: TraceEntry): boolean {
  if (entry.protocol !== indicator.protocol) return false;
  const { surface } = indicator;
  if (surface !== undefined && entry.event !== surface && !isJoinedInto(entry.event, surface)) {
    return false;
  }
  if (indicator.actor !== undefined && entry.actor !== indicator.actor) return false;
  return indicator.direction === undefined || entry.direction === indicator.direction;
}

/** A joined entry is not protocol traffic: an expression written for events may fail on it. */
function counts(indicator: NormalizedIndicator, entry: TraceEntry): boolean {
  return !isJoined(entry.event) || indicator.expression === undefined;
}

type Detector = (content: JsonValue) => Outcome;

/** The detection of an indicator, taken apart once for the whole trace. */
function createDetector(indicator: NormalizedIndicator, options: EvaluationOptions): Detector {
  const { target, pattern, expression, semantic } = indicator;
  if (pattern !== undefined) return compilePattern(pattern, target);
  if (expression !== undefined) {
    return (content) => evaluateExpression(expression, content, { cel: options.cel });
  }
  if (semantic !== undefined) {
    const settings = { target, semantic: options.semantic };
    return (content) => evaluateSemantic(semantic, content, settings);
  }
  const message = "the indicator has no detection method";
  return () => ({ result: "error", error: { kind: "unsupported_method", message } });
}
