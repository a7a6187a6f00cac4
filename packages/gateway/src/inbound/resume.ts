import type { JsonObject, JsonValue } from "@countersign/core";
import { compileResponseSchema } from "@countersign/policy";
import type { ResumeEntry, RunAgentInput } from "@countersign/wire";
import { digestOf } from "../ledger/digest.js";
import type { LedgerRow } from "../ledger/ledger.js";
import { rowOf } from "../ledger/thread-state.js";
import type { InterruptState, ThreadState } from "../ledger/thread-state.js";
import type { Claim, Finding, FindingCode } from "./finding.js";

/** A call that a person was shown, and what they said to it. */
export type Approval = {
  readonly name: string;
  readonly arguments: string;
  readonly isGranted: boolean;
};

const ANSWERED: Finding = {
  check: "resume",
  code: "ERR_RESUME_ANSWERED",
  reason: "the interrupt was answered before",
};

/** Holds the answers to interrupts against those that are open: all of them, in time, in form, and once. */
export function reviewResume(
  { resume = [] }: RunAgentInput,
  { interrupts }: ThreadState,
  now: number,
): { findings: Finding[]; rows: LedgerRow[]; claims: Claim[]; approvals: Approval[] } {
  const findings: Finding[] = [];
  const rows: LedgerRow[] = [];
  const claims: Claim[] = [];
  const approvals: Approval[] = [];
  const find = (code: FindingCode, reason: string): void =>
    void findings.push({ check: "resume", code, reason });
  const covered = new Set<string>();
  for (const entry of resume) {
    const interrupt = interrupts.get(entry.interruptId);
    if (interrupt === undefined) {
      find("ERR_RESUME_UNKNOWN", "the interrupt is not open on this thread");
      continue;
    }
    const answer = digestOf({
      status: entry.status,
      payload: (entry.payload ?? null) as JsonValue,
    });
    if (covered.has(entry.interruptId) || (interrupt.answer ?? answer) !== answer) {
      findings.push(ANSWERED);
    }
    covered.add(entry.interruptId);
    if (entry.status === "resolved") {
      if (isExpired(interrupt, now)) find("ERR_RESUME_EXPIRED", "the interrupt's time is over");
      else if (!fits(entry, interrupt)) {
        find("ERR_RESUME_MISMATCH", "the answer does not fit the interrupt's schema");
      }
    }
    const claimed = `interrupt ${interrupt.runId} ${entry.interruptId}`;
    const row: LedgerRow = { kind: "answer", id: claimed, value: { said: answer } };
    claims.push({ row, finding: ANSWERED });
    rows.push(rowOf("interrupt", entry.interruptId, { ...interrupt, answer }));
    if (interrupt.call !== undefined) {
      approvals.push({ ...interrupt.call, isGranted: isGrant(entry) });
    }
  }
  if (resume.length > 0 && [...interrupts.keys()].some((id) => !covered.has(id))) {
    find("ERR_RESUME_INCOMPLETE", "an open interrupt is not answered");
  }
  return { findings, rows, claims, approvals };
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

function fits({ payload }: ResumeEntry, { responseSchema }: InterruptState): boolean {
  if (responseSchema === undefined) return true;
  try {
    return compileResponseSchema(responseSchema as JsonObject)((payload ?? null) as JsonValue);
  } catch {
    // An answer that cannot be checked was not accepted by the schema.
    return false;
  }
}
