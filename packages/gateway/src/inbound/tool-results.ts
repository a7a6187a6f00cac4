import { canonicalJson, isJsonObject, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { Message, ResumeEntry, RunAgentInput } from "@countersign/wire";
import type { StoredRow } from "../store/keyed-store.js";
import { rowOf } from "../thread/thread-state.js";
import type { ThreadState } from "../thread/thread-state.js";
import { digestOf } from "../thread/digest.js";
import type { AnswerClaim, Finding, FindingCode } from "./finding.js";
import { pointerTo } from "./finding.js";

/** Checks new results against the delivered calls: the tool is the client's, the call is complete, and the result is the first. */
export function reviewToolResults(
  { messages, resume = [] }: RunAgentInput,
  fresh: readonly Message[],
  { calls, interrupts }: ThreadState,
): { findings: Finding[]; rows: StoredRow[]; claims: AnswerClaim[] } {
  const findings: Finding[] = [];
  const rows: StoredRow[] = [];
  const claims: AnswerClaim[] = [];
  const answered = new Set<string>();
  const places = new Map(messages.map((message, index) => [message, index]));
  for (const message of fresh) {
    if (message.role !== "tool") continue;
    const { toolCallId } = message;
    const asked = resume.filter(
      (one) => interrupts.get(one.interruptId)?.toolCallId === toolCallId,
    );
    if (asked.some((answer) => restatesAnswer(message, answer))) continue;
    const at = pointerTo("messages", places.get(message) ?? 0);
    const found = (code: FindingCode, reason: string): Finding => ({
      check: "tool_results",
      code,
      reason,
      at,
      about: toolCallId,
    });
    const twice = found("ERR_TOOL_RESULT_TWICE", "the call was answered before");
    const call = calls.get(toolCallId);
    if (call?.arguments === undefined) {
      const reason = "the call it answers was not delivered on this thread";
      findings.push(found("ERR_TOOL_RESULT_UNKNOWN", reason));
    } else if (!call.isClients) {
      findings.push(
        found("ERR_TOOL_RESULT_FOREIGN", "the tool it answers for is not the client's"),
      );
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

/** TanStack AI repeats the person's answer as the result of the call that they were asked about. */
const RESTATED = {
  approved: { approved: true, pendingExecution: true, message: "User approved this action" },
  declined: { approved: false, message: "User denied this action" },
} as const;

/** Whether a result only repeats an answer in `resume`: the agent's own result then follows. */
function restatesAnswer(
  { content, error }: Extract<Message, { role: "tool" }>,
  { status, payload }: ResumeEntry,
): boolean {
  if (status !== "resolved" || error !== undefined || typeof content !== "string") return false;
  const approved = isJsonObject(payload as JsonValue)
    ? (payload as { approved?: unknown }).approved
    : undefined;
  if (typeof approved !== "boolean") return false;
  try {
    const expected = RESTATED[approved ? "approved" : "declined"];
    return canonicalJson(parseJson(content)) === canonicalJson(expected);
  } catch {
    return false;
  }
}
