import type { Message } from "@countersign/wire";
import type { LedgerRow } from "../ledger/ledger.js";
import { rowOf } from "../ledger/thread-state.js";
import type { ThreadState } from "../ledger/thread-state.js";
import type { Finding, FindingCode } from "./finding.js";

/** Holds new answers against the calls that were delivered: for a client's tool, whole, and once. */
export function reviewToolResults(
  fresh: readonly Message[],
  { calls }: ThreadState,
): { findings: Finding[]; rows: LedgerRow[] } {
  const findings: Finding[] = [];
  const rows: LedgerRow[] = [];
  const answered = new Set<string>();
  const find = (code: FindingCode, reason: string): void =>
    void findings.push({ check: "tool_results", code, reason });
  for (const message of fresh) {
    if (message.role !== "tool") continue;
    const { toolCallId } = message;
    const call = calls.get(toolCallId);
    if (call?.arguments === undefined) {
      find("ERR_TOOL_RESULT_UNKNOWN", "the call it answers was not delivered on this thread");
    } else if (!call.isClients) {
      find("ERR_TOOL_RESULT_FOREIGN", "the tool it answers for is not the client's");
    } else if (call.isAnswered === true || answered.has(toolCallId)) {
      find("ERR_TOOL_RESULT_TWICE", "the call was answered before");
    } else {
      rows.push(rowOf("call", toolCallId, { ...call, isAnswered: true }));
    }
    answered.add(toolCallId);
  }
  return { findings, rows };
}
