import { canonicalJson, isCountersignError } from "@countersign/core";
import { NO_CAPABILITY } from "@countersign/receipts";
import type { EntryDraft } from "@countersign/receipts/log";
import type { Clock } from "../base/ports.js";
import type { Recorder } from "../event/recorder.js";
import type { InboundRequest } from "./request.js";

/** The number of receipts for unreadable requests, at first and then per second. */
const BURST = 50;
const PER_SECOND = 10;

/** Writes receipts for requests that were refused before a decision. */
export type RefusalLog = {
  /**
   * Writes a receipt with the error code and nothing of the request, unless the decision has one or the rate is
   * exceeded.
   */
  record(request: InboundRequest, error: unknown): Promise<void>;
};

const receipts = new WeakMap<object, string>();

/** The id of the decision's receipt for a refusal, if it has one. */
export function receiptOf(error: unknown): string | undefined {
  if (isCountersignError(error, "ERR_INBOUND_BLOCKED")) return error.facts.receipt;
  return typeof error === "object" && error !== null ? receipts.get(error) : undefined;
}

/** Attaches a receipt id to an error, because the listener receives only the error. */
export function attachReceipt(error: unknown, receiptId: string): void {
  if (typeof error === "object" && error !== null) receipts.set(error, receiptId);
}

/**
 * Creates the log for refused requests.
 *
 * A malformed request costs its sender nothing, and a receipt costs the gateway a signature and a flush. So the rate is bounded, and the
 * next receipt counts the requests left out.
 */
export function createRefusalLog(recorder: Recorder, clock: Clock): RefusalLog {
  let tokens = BURST;
  let filledAt = clock.now();
  let leftOut = 0;
  return {
    record: async (request, error) => {
      if (request.receiptId !== undefined || !isCountersignError(error)) return;
      const now = clock.now();
      tokens = Math.min(BURST, tokens + (Math.max(0, now - filledAt) / 1000) * PER_SECOND);
      filledAt = now;
      if (tokens < 1) {
        leftOut += 1;
        return;
      }
      tokens -= 1;
      const others = leftOut;
      leftOut = 0;
      try {
        const [recorded] = await recorder.appendAll([draftOf(request, error.code, others)]);
        if (recorded !== undefined) attachReceipt(error, recorded.id);
      } catch {
        // The request is refused either way; readiness reports a log that is down.
        leftOut += others;
      }
    },
  };
}

function draftOf(request: InboundRequest, code: string, others: number): EntryDraft {
  const more = others === 0 ? "" : ` (and ${others} more that were not signed for)`;
  return {
    receipt: {
      timestamp: Math.floor(request.receivedAt / 1000),
      event_id: request.mintId("event"),
      agent_id: request.agent,
      session_id: request.sessionId,
      capability_id: NO_CAPABILITY,
      event_type: { custom: "invalid request" },
      classification: "mutate",
      transport: request.transport,
      allowed: false,
      denial_reason: `invalid request: ${code}${more}`,
    },
    payload_text: canonicalJson({ refused: code }),
    direction: "inbound",
    ...request.client,
    ...(request.input === undefined
      ? {}
      : { run_id: request.input.runId, thread_id: request.input.threadId }),
    policy_hash: request.policy.hash,
    mode: request.policy.mode,
    rule: "gateway/invalid",
    received_at: request.receivedAt,
  };
}
