import type { JsonObject, JsonValue } from "@countersign/core";
import type { ResumeEntry, RunAgentInput } from "@countersign/wire";
import { digestOf } from "../thread/digest.js";
import type { StoredRow } from "../store/keyed-store.js";
import { rowOf } from "../thread/thread-state.js";
import type { AskedCall, InterruptState, ThreadState } from "../thread/thread-state.js";
import type { AnswerClaim, Finding, FindingCode } from "./finding.js";
import { declines } from "./declines.js";
import { pointerTo } from "./finding.js";
import { createAnswerCheck } from "./response-schema.js";

/** A call that the person was asked about, and the answer. */
export type Approval = {
  /** Absent if the interrupt names tools and no call. */
  readonly call?: AskedCall;
  /** The id of that call. */
  readonly toolCallId?: string | undefined;
  readonly isGranted: boolean;
  /** The call that used the approval in an earlier run, which broke off. */
  readonly usedBy?: string;
  /** The interrupt, if the person has not answered it. */
  readonly open?: { readonly id: string; readonly interrupt: InterruptState };
  /** The tools that the interrupt names in addition to a delivered call. */
  readonly tools?: readonly string[];
};

/** The number of declined calls that a thread keeps. A person answers each one, so few threads have any. */
const MAX_DECLINED = 64;

/**
 * Checks the answers to interrupts against the open interrupts: all answered, in time, with a valid form, and once. While no run has
 * finished with an approval, the person may withdraw it.
 *
 * A client that names no protocol version may not know how to answer, so it may continue. The gateway then treats the calls that it was
 * asked about as declined.
 *
 * @param keepsInterrupts the request says nothing new: the interrupts stay open, and the run may only ask again
 */
export function reviewAnswers(
  { resume = [], protocolVersion }: RunAgentInput,
  { interrupts, declined }: ThreadState,
  now: number,
  keepsInterrupts = false,
): { findings: Finding[]; rows: StoredRow[]; claims: AnswerClaim[]; approvals: Approval[] } {
  const findings: Finding[] = [];
  const rows: StoredRow[] = [];
  const claims: AnswerClaim[] = [];
  const answers: Answered[] = [];
  const covered = new Set<string>();
  const check = createAnswerCheck();
  for (const [index, entry] of resume.entries()) {
    const at = pointerTo("resume", index);
    const found = (code: FindingCode, reason: string): Finding => ({
      check: "resume",
      code,
      reason,
      at,
      about: entry.interruptId,
    });
    const interrupt = interrupts.get(entry.interruptId);
    if (interrupt === undefined) {
      findings.push(found("ERR_RESUME_UNKNOWN", "the interrupt is not open on this thread"));
      continue;
    }
    const { status, payload = null } = entry;
    const answer = digestOf({ status, payload: payload as JsonValue });
    const answered = found("ERR_RESUME_ANSWERED", "the interrupt was answered before");
    const isSecond = covered.has(entry.interruptId);
    const isGranted = isGrant(entry);
    // No run has finished with the approval, or the interrupt would not be open.
    const withdraws = interrupt.isGranted === true && !isGranted;
    const isOther = (interrupt.answer ?? answer) !== answer && !withdraws;
    if (isSecond || isOther) findings.push(answered);
    // Only the first answer is checked, so that thousands of answers to one interrupt are not validated one by one.
    if (isSecond) continue;
    covered.add(entry.interruptId);
    if (status === "resolved" && isExpired(interrupt, now)) {
      findings.push(found("ERR_RESUME_EXPIRED", "the interrupt's time is over"));
    } else if (status === "resolved" && !fits(entry, interrupt, check)) {
      const reason = "the answer does not fit the interrupt's schema";
      findings.push(found("ERR_RESUME_MISMATCH", reason));
    }
    const claimed = `interrupt ${interrupt.runId} ${entry.interruptId}`;
    const withdrawn = `withdrawn ${interrupt.runId} ${entry.interruptId}`;
    const isWithdrawn = withdraws || interrupt.isWithdrawn === true;
    const claim = (id: string): AnswerClaim => ({
      row: { kind: "answer", id, value: { said: answer } },
      finding: answered,
    });
    claims.push(claim(isWithdrawn ? withdrawn : claimed));
    // Another gateway may have accepted the withdrawal since this one read the thread.
    if (isGranted) claims.push({ ...claim(withdrawn), isLookup: true });
    const { isGranted: _before, ...asked } = interrupt;
    rows.push(
      rowOf("interrupt", entry.interruptId, {
        ...asked,
        answer,
        ...(isGranted ? { isGranted } : {}),
        ...(isWithdrawn ? { isWithdrawn } : {}),
      }),
    );
    answers.push({ interrupt, isGranted });
  }
  const passed = [...interrupts].filter(([id]) => !covered.has(id));
  if (keepsInterrupts) {
    const unanswered = passed.map(([id, interrupt]): Approval => {
      const [asked = { isGranted: false }] = approvalOf(interrupt, false);
      return { ...asked, open: { id, interrupt } };
    });
    return { findings, rows, claims, approvals: [...approvalsOf(answers), ...unanswered] };
  }
  if (passed.length > 0 && (resume.length > 0 || protocolVersion !== undefined)) {
    findings.push({
      check: "resume",
      code: "ERR_RESUME_INCOMPLETE",
      reason: "an open interrupt is not answered",
      at: pointerTo("resume"),
      open: passed.map(([id]) => id),
    });
  }
  for (const [, interrupt] of passed) answers.push({ interrupt, isGranted: false });
  const approvals = approvalsOf(answers);
  if (declined.length > 0 || approvals.some(({ isGranted }) => !isGranted)) {
    rows.push(rowOf("declined", "", { calls: stillDeclined(declined, approvals) }));
  }
  return { findings, rows, claims, approvals };
}

type Answered = { readonly interrupt: InterruptState; readonly isGranted: boolean };

/**
 * The answers as approvals. An agent may ask several questions about one call: the call is approved if the person approved all of them,
 * and then once.
 */
function approvalsOf(answers: readonly Answered[]): Approval[] {
  const byCall = new Map<string, Answered[]>();
  const approvals: Approval[] = [];
  for (const answer of answers) {
    const { toolCallId } = answer.interrupt;
    if (toolCallId === undefined) {
      approvals.push(...approvalOf(answer.interrupt, answer.isGranted));
      continue;
    }
    const same = byCall.get(toolCallId);
    if (same === undefined) byCall.set(toolCallId, [answer]);
    else same.push(answer);
  }
  for (const same of byCall.values()) {
    const isGranted = same.every((answer) => answer.isGranted);
    const all = same.flatMap(({ interrupt }) => approvalOf(interrupt, isGranted));
    if (!isGranted) {
      approvals.push(...all);
      continue;
    }
    const [one] = all.filter(({ usedBy }) => usedBy !== undefined).concat(all);
    if (one === undefined) continue;
    approvals.push({ ...one, tools: [...new Set(all.flatMap(({ tools = [] }) => tools))] });
  }
  return approvals;
}

/** Whether two interrupts are about the same call. */
function isSameCall(one: AskedCall | undefined, other: AskedCall): boolean {
  if (one === undefined) return false;
  if ("id" in one || "id" in other) return "id" in one && "id" in other && one.id === other.id;
  return one.name === other.name && one.arguments === other.arguments;
}

/** If a call was not delivered complete before its interrupt, the gateway knows only its id and the tools that the interrupt names. */
function approvalOf(
  { call, toolCallId, toolName, toolNames, usedBy }: InterruptState,
  isGranted: boolean,
): Approval[] {
  const tools = toolNames ?? (toolName === undefined ? [] : [toolName]);
  const asked = call ?? (toolCallId === undefined ? undefined : { id: toolCallId });
  if (asked !== undefined) {
    const used = usedBy === undefined ? {} : { usedBy };
    return [{ call: asked, toolCallId, isGranted, tools, ...used }];
  }
  // An approval without a call cannot be compared with one.
  return isGranted || tools.length === 0 ? [] : [{ isGranted, tools }];
}

/** If a call is both declined and approved, it is declined again once the approval is used. */
function stillDeclined(
  before: readonly AskedCall[],
  approvals: readonly Approval[],
): readonly AskedCall[] {
  const others = before.filter((call) => !approvals.some((said) => isSameCall(said.call, call)));
  const added: AskedCall[] = [];
  for (const { call, isGranted } of approvals) {
    if (isGranted || call === undefined) continue;
    if (!added.some((known) => isSameCall(known, call))) added.push(call);
  }
  return [...others, ...added].slice(-MAX_DECLINED);
}

/**
 * Whether an answer approves. Only the agent understands forms other than those of {@link declines}, such as edited arguments.
 */
function isGrant({ status, payload }: ResumeEntry): boolean {
  return status === "resolved" && !declines(payload);
}

/** A time that cannot be parsed counts as expired. */
function isExpired({ expiresAt }: InterruptState, now: number): boolean {
  if (expiresAt === undefined) return false;
  const time = Date.parse(expiresAt);
  return Number.isNaN(time) || time <= now;
}

function fits(
  { payload }: ResumeEntry,
  { responseSchema }: InterruptState,
  check: (schema: JsonObject, payload: JsonValue) => boolean,
): boolean {
  if (responseSchema === undefined) return true;
  return check(responseSchema as JsonObject, (payload ?? null) as JsonValue);
}
