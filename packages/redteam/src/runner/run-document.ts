import { isDeepStrictEqual } from "node:util";
import { isCountersignError, ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { findMisjudgedExamples, prefetchSemanticScores } from "../oatf/evaluate/prefetch.js";
import { evaluateAttack, extractProtocol } from "../oatf/index.js";
import type { AttackResult, NormalizedDocument, Verdict } from "../oatf/index.js";
import { listMember, textMember } from "../oatf/json/values.js";
import { withFreshIds } from "./fresh-ids.js";
import { describeGaps } from "./gap.js";
import type { Gap } from "./gap.js";
import { isServer } from "./mode.js";
import type { RunnerOptions } from "./options.js";
import { executeDocument } from "./execute-document.js";
import type { ExecutionResult } from "./execute-document.js";
import { isDeliberate, isRefusalEvent } from "./refusal.js";
import { hasContent, hasValue } from "./request.js";
import { placeOf } from "./run-stream.js";
import { indicatorGap, unseenText } from "./indicator-gap.js";
import { WIRE } from "./trace-recorder.js";

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
 * A match stands however the run ended. A miss counts only when every payload was delivered, the target had its
 * say, and every indicator had something to look at.
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
  const unheard =
    gaps.length === 0 && !stopped ? unansweredPlace(document, execution, verdict) : undefined;
  if (unheard !== undefined) {
    const message = `${unheard}: the agent's runs hold nothing but their start and end`;
    gaps.push({ kind: "cut_short", message: `${message}, so nothing shows that it took part` });
  }
  const unseen =
    gaps.length === 0 && !stopped
      ? unseenText(document.attack.indicators ?? [], verdict.indicator_verdicts)
      : undefined;
  if (unseen !== undefined) {
    const message = `no message had ${unseen}, and no other indicator had a message to evaluate`;
    gaps.push({ kind: "cut_short", message });
  }
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
    const { actors } = attack.execution;
    const incoming = new Set(
      actors
        .filter(({ mode }) => extractProtocol(mode) === indicator.protocol)
        .map(({ mode }) => (isServer(mode) ? "request" : "response")),
    );
    const options = { joined: strict !== true, extractors, incoming };
    return indicatorGap(indicator, verdict, options) ?? [];
  });
}

const LIFECYCLE: ReadonlySet<string> = new Set([
  "run_agent_input",
  "run_started",
  "run_finished",
  "step_started",
  "step_finished",
  "subagent_started",
  "subagent_finished",
]);

/** Events that only open or close what others say. */
const FRAMES =
  /^(?:text_message|reasoning|reasoning_message|thinking|thinking_text_message)_(?:start|end)$/;

/** The member in which an event says what it is there for; empty, the event says nothing. */
const SAYING: ReadonlyMap<string, string> = new Map([
  ["state_snapshot", "snapshot"],
  ["state_delta", "delta"],
  ["activity_snapshot", "content"],
  ["activity_delta", "patch"],
  ["custom", "value"],
  ["raw", "event"],
]);

/** The values in the requests of a document that an agent may repeat: ids of messages, and states. */
type Sent = { readonly ids: Set<string | undefined>; readonly states: JsonValue[] };

/**
 * The last phase of an actor in which something was sent and to which the agent said nothing: nothing shows that it read
 * the payload. Where an indicator looks at the start or end of runs, these are an answer.
 */
function unansweredPlace(
  { attack }: NormalizedDocument,
  { trace }: ExecutionResult,
  { indicator_verdicts: verdicts }: Verdict,
): string | undefined {
  const looksAtRuns = (attack.indicators ?? []).some(
    ({ surface = "" }, index) => LIFECYCLE.has(surface) && (verdicts[index]?.looked_at ?? 0) > 0,
  );
  if (looksAtRuns) return undefined;
  const sent: Sent = { ids: new Set(), states: [] };
  const last = new Map<string, { phase: string; isHeard: boolean }>();
  for (const { actor, phase = "", event, direction, content, protocol } of trace) {
    if (protocol === WIRE) continue;
    const current = last.get(actor);
    if (direction === "request") {
      if (event !== "run_agent_input") continue;
      for (const message of listMember(content, "messages"))
        sent.ids.add(textMember(message, "id"));
      sent.states.push(ownMember(content, "state") ?? null);
      if (current?.phase !== phase) last.set(actor, { phase, isHeard: false });
    } else if (current !== undefined && current.phase === phase) {
      current.isHeard ||= isAnswer(event, content, sent);
    }
  }
  for (const [actor, { phase, isHeard }] of last) if (!isHeard) return placeOf({ actor, phase });
  return undefined;
}

/** Whether an event says anything of the agent's own. */
function isAnswer(event: string, content: JsonValue, sent: Sent): boolean {
  // A joined entry comes with the events that it joins.
  if (event.startsWith("_accumulated") || FRAMES.test(event)) return false;
  if (LIFECYCLE.has(event)) {
    const interrupts = listMember(ownMember(content, "outcome"), "interrupts");
    return ownMember(content, "result") !== undefined || interrupts.length > 0;
  }
  if (event === "messages_snapshot") {
    return listMember(content, "messages").some(
      (message) => !sent.ids.has(textMember(message, "id")),
    );
  }
  const saying = SAYING.get(event);
  if (saying !== undefined) {
    const value = ownMember(content, saying) ?? null;
    return hasValue(value) && !sent.states.some((state) => isDeepStrictEqual(state, value));
  }
  const delta = ownMember(content, "delta");
  return typeof delta !== "string" || hasContent(delta);
}

function hasRefusal({ trace, receipts }: ExecutionResult): boolean {
  if (receipts.length > 0) return true;
  return trace.some(
    ({ event, direction, content }) =>
      direction === "response" && event === "run_error" && isRefusalEvent(content),
  );
}
