import type { ReceiptCounts } from "../view/receipts.js";
import type { AgentSnapshot, AgentStatus, Problem } from "../view/snapshot.js";
import { SNAPSHOT_KEYS } from "../view/snapshot.js";
import type { Conversation } from "./conversation.js";

/** The parts of a snapshot. */
export type SnapshotParts = {
  readonly status: AgentStatus;
  readonly problem: Problem | undefined;
  readonly threadId: string;
  readonly conversation: Conversation;
  readonly receipts: ReceiptCounts;
};

/** The snapshot of this moment: the previous one when nothing differs. */
export function buildSnapshot(
  { status, problem, threadId, conversation, receipts }: SnapshotParts,
  previous: AgentSnapshot | undefined,
): AgentSnapshot {
  const view = conversation.view();
  const next: AgentSnapshot = {
    status,
    problem,
    threadId,
    runId: view.runId,
    messages: view.messages,
    state: view.state,
    result: view.result,
    steps: view.steps,
    subagents: view.subagents,
    interrupts: view.pendingInterrupts,
    pendingToolCallIds: view.pendingToolCallIds,
    usage: view.usage,
    renderHints: conversation.renderHints,
    notices: conversation.notices,
    receipts,
  };
  if (previous === undefined) return next;
  return SNAPSHOT_KEYS.every((key) => Object.is(previous[key], next[key])) ? previous : next;
}
