import type { RequestSettings } from "@countersign/policy";
import type { Message, RunAgentInput } from "@countersign/wire";
import type { LedgerRow } from "../ledger/ledger.js";
import { compareMessage, recordOf } from "../ledger/message-record.js";
import { rowOf } from "../ledger/thread-state.js";
import type { ThreadState } from "../ledger/thread-state.js";
import type { Finding, FindingCode } from "./finding.js";

/** What came of looking at the messages of a request. */
export type HistoryReview = {
  readonly findings: Finding[];
  /** Messages nobody has seen before. */
  readonly fresh: Message[];
  /** Rows to write when the request is admitted. */
  readonly rows: LedgerRow[];
};

/**
 * Holds the messages of a request against what was delivered and accepted on the thread: one look-up and
 * one hash per message.
 */
export function reviewHistory(
  input: RunAgentInput,
  state: ThreadState,
  settings: RequestSettings["history"],
): HistoryReview {
  const review: HistoryReview = { findings: [], fresh: [], rows: [] };
  const find = (code: FindingCode, reason: string, isRemark?: true): void => {
    review.findings.push({ check: "history", code, reason, ...(isRemark ? { isRemark } : {}) });
  };
  const seen = new Set<string>();
  for (const [index, message] of input.messages.entries()) {
    const record = state.messages.get(message.id);
    if (record === undefined) {
      if (!settings.newRoles.has(message.role)) {
        const reason = `message ${index} speaks as ${message.role} and was not delivered here, or is forgotten`;
        find("ERR_HISTORY_INVENTED", reason);
      } else if (seen.has(message.id)) {
        find("ERR_HISTORY_REWRITTEN", `message ${index} has the id of another`);
      }
      review.fresh.push(message);
      review.rows.push(rowOf("message", message.id, recordOf(message)));
    } else {
      const comparison = compareMessage(message, record);
      if (comparison === "changed") {
        find("ERR_HISTORY_REWRITTEN", `message ${index} differs from what was delivered`);
      } else if (comparison === "unfinished") {
        const reason = `message ${index} was open when the gateway ended`;
        find("ERR_HISTORY_UNFINISHED", reason, settings.unfinished === "accept" ? true : undefined);
      }
      // From now on it is known what the client has of it.
      if (record.cut === true || record.open === true) {
        review.rows.push(rowOf("message", message.id, recordOf(message)));
      }
    }
    seen.add(message.id);
  }
  const reason = orderProblem(input, state, settings);
  if (reason !== undefined) find("ERR_HISTORY_DROPPED", reason);
  return review;
}

/** Why the history in a request has a gap or another order; `undefined` where it has none. */
function orderProblem(
  { messages }: RunAgentInput,
  { order, latest, messages: known }: ThreadState,
  { accept, rollback }: RequestSettings["history"],
): string | undefined {
  const required = new Set(order);
  const held = messages.filter(({ id }) => required.has(id)).map(({ id }) => id);
  if (rollback) return isSubsequence(held, order) ? undefined : "the history has another order";
  if (accept === "tail" && held.length > 0) return "only new messages are accepted";
  if (accept === "full" && held.length < order.length) return "part of the history is missing";
  const start = order.length - held.length;
  if (held.some((id, index) => order[start + index] !== id)) {
    return isSubsequence(held, order)
      ? "a message of the history is missing"
      : "the history has another order";
  }
  // A person may write while an answer still arrives, but not into what came before it.
  const earlier = new Set(order.slice(0, latest));
  let isNew = false;
  for (const { id, role } of messages) {
    if (isNew && earlier.has(id)) return "a new message stands inside the history";
    if (!known.has(id) && role !== "tool") isNew = true;
  }
  return undefined;
}

function isSubsequence(held: readonly string[], order: readonly string[]): boolean {
  let at = 0;
  for (const id of order) if (held[at] === id) at += 1;
  return at === held.length;
}
