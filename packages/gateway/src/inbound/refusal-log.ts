import { canonicalJson, isCountersignError } from "@countersign/core";
import { NO_CAPABILITY } from "@countersign/receipts";
import type { EntryDraft } from "@countersign/receipts/log";
import type { Clock } from "../base/ports.js";
import type { Recorder } from "../event/recorder.js";
import type { InboundRequest } from "./request.js";

/** Unreadable requests signed for at once, and from then on per second. */
const BURST = 50;
const PER_SECOND = 10;

/** Signs for requests that were refused before anybody could decide about them. */
export type RefusalLog = {
  /**
   * Leaves a receipt with the code and nothing of the request, as far as the rate allows; nothing where the
   * decision has one.
   */
  record(request: InboundRequest, error: unknown): Promise<void>;
};

const receipts = new WeakMap<object, string>();

/** The receipt of the decision behind a refusal, where there is one. */
export function receiptOf(error: unknown): string | undefined {
  if (isCountersignError(error, "ERR_INBOUND_BLOCKED")) return error.facts.receipt;
  return typeof error === "object" && error !== null ? receipts.get(error) : undefined;
}

/** Remembers which receipt a refusal has; errors are the only thing that travels to the listener. */
export function attachReceipt(error: unknown, receiptId: string): void {
  if (typeof error === "object" && error !== null) receipts.set(error, receiptId);
}

/**
 * Garbage costs its sender nothing and a receipt costs us a signature and a flush, so the rate is bounded;
 * what was left out is counted in the next receipt.
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
        // It is refused either way; a log that is down shows in readiness, not here.
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
    policy_hash: request.policy.hash,
    mode: request.policy.mode,
    rule: "gateway/invalid",
    received_at: request.receivedAt,
  };
}
