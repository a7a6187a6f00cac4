import type { JsonObject, JsonValue } from "@countersign/core";
import type { ResumeEntry, RunAgentInput } from "@countersign/wire";
import { digestOf } from "../thread/digest.js";
import type { LedgerRow } from "../thread/ledger.js";
import { declinedRow, rowOf } from "../thread/thread-state.js";
import type { AskedCall, InterruptState, ThreadState } from "../thread/thread-state.js";
import type { Claim, Finding, FindingCode } from "./finding.js";
import { pointerTo } from "./pointer.js";
import { createAnswerCheck } from "./response-schema.js";

/** A call that a person was asked about, and what they said to it. */
export type Approval = {
  readonly call: AskedCall;
  readonly isGranted: boolean;
  /** The tool that the question names, where the call itself was not delivered before it. */
  readonly tool?: string;
};

/** Declined calls that a thread remembers; each took a person's answer, so that few threads have any. */
const MAX_DECLINED = 64;

/**
 * Holds the answers to interrupts against those that are open: all of them, in time, in form, and once.
 *
 * A client that names no version of the protocol may not know how to answer, so it may go on; what it was
 * asked about is not approved by that, but declined.
 */
export function reviewResume(
  { resume = [], protocolVersion }: RunAgentInput,
  { interrupts, declined }: ThreadState,
  now: number,
): { findings: Finding[]; rows: LedgerRow[]; claims: Claim[]; approvals: Approval[] } {
  const findings: Finding[] = [];
  const rows: LedgerRow[] = [];
  const claims: Claim[] = [];
  const approvals: Approval[] = [];
  const covered = new Set<string>();
  const check = createAnswerCheck();
  for (const [index, entry] of resume.entries()) {
    const place = { at: pointerTo("resume", index), about: entry.interruptId };
    const find = (code: FindingCode, reason: string): void =>
      void findings.push({ check: "resume", code, reason, ...place });
    const interrupt = interrupts.get(entry.interruptId);
    if (interrupt === undefined) {
      find("ERR_RESUME_UNKNOWN", "the interrupt is not open on this thread");
      continue;
    }
    const answer = digestOf({
      status: entry.status,
      payload: (entry.payload ?? null) as JsonValue,
    });
    const answered: Finding = {
      check: "resume",
      code: "ERR_RESUME_ANSWERED",
      reason: "the interrupt was answered before",
      ...place,
    };
    const isSecond = covered.has(entry.interruptId);
    if (isSecond || (interrupt.answer ?? answer) !== answer) findings.push(answered);
    // The first one counts: thousands of answers to one question are not held against its schema one by one.
    if (isSecond) continue;
    covered.add(entry.interruptId);
    if (entry.status === "resolved") {
      if (isExpired(interrupt, now)) find("ERR_RESUME_EXPIRED", "the interrupt's time is over");
      else if (!fits(entry, interrupt, check)) {
        find("ERR_RESUME_MISMATCH", "the answer does not fit the interrupt's schema");
      }
    }
    const claimed = `interrupt ${interrupt.runId} ${entry.interruptId}`;
    const row: LedgerRow = { kind: "answer", id: claimed, value: { said: answer } };
    claims.push({ row, finding: answered });
    const isGranted = isGrant(entry);
    rows.push(
      rowOf("interrupt", entry.interruptId, {
        ...interrupt,
        answer,
        ...(isGranted ? { isGranted } : {}),
      }),
    );
    approvals.push(...approvalOf(interrupt, isGranted));
  }
  const passed = [...interrupts].filter(([id]) => !covered.has(id));
  if (passed.length > 0 && (resume.length > 0 || protocolVersion !== undefined)) {
    const reason = "an open interrupt is not answered";
    const open = passed.map(([id]) => id);
    findings.push({
      check: "resume",
      code: "ERR_RESUME_INCOMPLETE",
      reason,
      at: pointerTo("resume"),
      open,
    });
  }
  for (const [, interrupt] of passed) approvals.push(...approvalOf(interrupt, false));
  if (declined.length > 0 || approvals.some(({ isGranted }) => !isGranted)) {
    rows.push(declinedRow(stillDeclined(declined, approvals)));
  }
  return { findings, rows, claims, approvals };
}

/** Whether two questions were about the same call. */
export function isSameCall(one: AskedCall, other: AskedCall): boolean {
  if ("id" in one || "id" in other) return "id" in one && "id" in other && one.id === other.id;
  return one.name === other.name && one.arguments === other.arguments;
}

/** A call that was not delivered whole before its interrupt is known by its id, and by the tool that the question names. */
function approvalOf(
  { call, toolCallId, toolName }: InterruptState,
  isGranted: boolean,
): Approval[] {
  if (call !== undefined) return [{ call, isGranted }];
  if (toolCallId === undefined) return [];
  const tool = toolName === undefined ? {} : { tool: toolName };
  return [{ call: { id: toolCallId }, isGranted, ...tool }];
}

/** Of a call that is declined and approved at once, the refusal stays when the approval is used up. */
function stillDeclined(
  before: readonly AskedCall[],
  approvals: readonly Approval[],
): readonly AskedCall[] {
  const others = before.filter((call) => !approvals.some((said) => isSameCall(said.call, call)));
  const added: AskedCall[] = [];
  for (const { call, isGranted } of approvals) {
    if (!isGranted && !added.some((known) => isSameCall(known, call))) added.push(call);
  }
  return [...others, ...added].slice(-MAX_DECLINED);
}

/** An answer may be a refusal too: `false`, or AG-UI's `{"approved": false}`. Other forms only the agent can read. */
function isGrant({ status, payload }: ResumeEntry): boolean {
  if (status !== "resolved" || payload === false) return false;
  return (payload as { approved?: unknown } | undefined)?.approved !== false;
}

/** A time that cannot be read is over: nobody can say that it is not. */
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
