import type { Message } from "@countersign/wire";
import type { LedgerRow } from "../ledger/ledger.js";
import { rowOf } from "../ledger/thread-state.js";
import type { ThreadState } from "../ledger/thread-state.js";
import { digestOf } from "../ledger/digest.js";
import type { Claim, Finding, FindingCode } from "./finding.js";
import { pointerTo } from "./pointer.js";

/** Holds new answers against the calls that were delivered: for a client's tool, whole, and once. */
export function reviewToolResults(
  messages: readonly Message[],
  fresh: readonly Message[],
  { calls }: ThreadState,
): { findings: Finding[]; rows: LedgerRow[]; claims: Claim[] } {
  const findings: Finding[] = [];
  const rows: LedgerRow[] = [];
  const claims: Claim[] = [];
  const answered = new Set<string>();
  const places = new Map(messages.map((message, index) => [message, index]));
  for (const message of fresh) {
    if (message.role !== "tool") continue;
    const { toolCallId } = message;
    const at = pointerTo("messages", places.get(message) ?? 0);
    const find = (code: FindingCode, reason: string): void =>
      void findings.push({ check: "tool_results", code, reason, at, about: toolCallId });
    const twice: Finding = {
      check: "tool_results",
      code: "ERR_TOOL_RESULT_TWICE",
      reason: "the call was answered before",
      at,
      about: toolCallId,
    };
    const call = calls.get(toolCallId);
    if (call?.arguments === undefined) {
      find("ERR_TOOL_RESULT_UNKNOWN", "the call it answers was not delivered on this thread");
    } else if (!call.isClients) {
      find("ERR_TOOL_RESULT_FOREIGN", "the tool it answers for is not the client's");
    } else if (call.isAnswered === true || answered.has(toolCallId)) {
      findings.push(twice);
    } else {
      rows.push(rowOf("call", toolCallId, { ...call, isAnswered: true }));
      const { id, content, error } = message;
      const said = digestOf([id, digestOf(content), digestOf(error)]);
      claims.push({
        row: { kind: "answer", id: `call ${toolCallId}`, value: { said } },
        finding: twice,
      });
    }
    answered.add(toolCallId);
  }
  return { findings, rows, claims };
}
