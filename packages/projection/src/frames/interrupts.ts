import type { JsonObject } from "@countersign/core";
import type { RuntimePayloads } from "../owners/runtime/project-runtime.js";

/** The kind of input that a person is asked for. */
export type RequestKind = "approval" | "question" | "authorization";

const REQUEST_KINDS = new Map<string, RequestKind>([
  ["approval_required", "approval"],
  ["user_input_required", "question"],
  ["authorization_required", "authorization"],
]);

const REASONS: Record<RequestKind, string> = {
  approval: "tool_call",
  question: "input_required",
  authorization: "agent-os:authorization",
};

/** The AG-UI reason of a runtime's reason; unknown reasons are namespaced. */
export function interruptReason(reason: string): string {
  const kind = REQUEST_KINDS.get(reason);
  return kind === undefined ? `agent-os:${reason}` : REASONS[kind];
}

/** The reference that the answer needs, if the runtime provided all of its parts. */
export function inputRequest(
  place: { readonly id: number; readonly scopeKey: string },
  payload: RuntimePayloads["agent.run.interrupted"],
): JsonObject | undefined {
  const kind = REQUEST_KINDS.get(payload.reason);
  const { decision, runId, turnIndex, interruptId } = payload;
  if (kind === undefined || decision === undefined) return undefined;
  const { gateRef, subjectRef, toolCallId, toolName } = decision;
  return {
    kind,
    subjectRef,
    toolCallId,
    toolName,
    ref: {
      kind: "agent.run.input_request",
      scopeKey: place.scopeKey,
      afterEventId: place.id,
      runId,
      turnIndex,
      interruptId,
      interruptionEventId: place.id,
      gateRef,
      requestKind: kind,
    },
  };
}
