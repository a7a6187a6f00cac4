import { canonicalJson } from "@countersign/core";
import type { CountersignError, JsonValue } from "@countersign/core";
import type { DecisionDraft } from "../event/recorder.js";
import { entryOf } from "../outbound/record/draft.js";
import { isStreamReceiptId } from "../outbound/record/receipt-chain.js";
import { blockerDenial, blockerError } from "./send-blocker.js";
import type { SendBlocker } from "./send-blocker.js";
import { attachReceipt } from "./refusal-log.js";
import { assertInput } from "./request.js";
import type { InboundRequest } from "./request.js";

/** Writes the receipt of the decision about a request, and waits until it is durable. */
export async function recordRequest(request: InboundRequest): Promise<void> {
  const [recorded] = await request.recorder.appendAll([draftOf(request)]);
  if (recorded === undefined) throw new TypeError("the log answered without an entry");
  request.receiptId = recorded.id;
  request.seq = recorded.seq;
  request.recorded?.(request);
}

/**
 * Writes a second receipt for an allowed message that did not reach the agent. Returns the error for its sender.
 *
 * The first receipt is durable before the message is sent, and the run can end in between. The log is append-only: the first receipt stays,
 * and the second names it.
 */
export async function recordUndelivered(
  request: InboundRequest,
  blocker: SendBlocker,
): Promise<CountersignError> {
  const denial = blockerDenial(blocker);
  const { message, receiptId = "" } = request;
  const withdrawn: InboundRequest = {
    ...request,
    decision: { ...denial, reason: `${denial.reason}; ${receiptId} was not sent up` },
  };
  // The first receipt already has the id of the event.
  if (message !== undefined) {
    const envelope = { ...message.envelope, event_id: request.mintId("event") };
    withdrawn.message = { ...message, envelope };
  }
  await recordRequest(withdrawn);
  const error = blockerError(blocker);
  attachReceipt(error, withdrawn.receiptId as string);
  return error;
}

function draftOf(request: InboundRequest): DecisionDraft {
  const { facts, decision, capabilityId } = request;
  if (facts === undefined || decision === undefined) {
    throw new TypeError("a request is recorded after it was decided");
  }
  const { message, unstrippedBody } = request;
  const input = message === undefined ? assertInput(request) : undefined;
  const payload = unstrippedBody ?? input ?? message?.envelope.payload ?? null;
  const draft = entryOf({
    facts,
    decision,
    capabilityId,
    receivedAt: request.receivedAt,
    eventId: claimedId(message?.envelope.event_id) ?? request.mintId("event"),
    agentId: request.agent,
    sessionId: request.sessionId,
    client: request.client,
    transport: request.transport,
    payloadText: canonicalJson(payload as JsonValue),
    policyHash: request.policy.hash,
    mode: request.policy.mode,
  });
  if (input !== undefined) {
    draft.run_id = input.runId;
    draft.thread_id = input.threadId;
  }
  return draft;
}

/** The id that a browser gave its message, unless it has the form of the gateway's own receipt ids. */
function claimedId(id: string | undefined): string | undefined {
  return id !== undefined && isStreamReceiptId(id) ? undefined : id;
}
