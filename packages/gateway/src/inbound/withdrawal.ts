import { inboundDraftOf } from "../record/draft.js";
import type { CountersignError } from "@countersign/core";
import { obstacleDenial, obstacleError } from "./obstacle.js";
import type { Obstacle } from "./obstacle.js";
import { attachReceipt } from "./refusal-log.js";
import type { InboundRequest } from "./request.js";

/**
 * Signs that a message which was allowed did not go up after all, and gives the error to answer with.
 *
 * A receipt is durable before its message leaves, and in between a run can end. The log only grows: the first
 * receipt stays, and this one names it.
 */
export async function withdraw(
  request: InboundRequest,
  obstacle: Obstacle,
): Promise<CountersignError> {
  const denial = obstacleDenial(obstacle);
  const { message, receiptId = "" } = request;
  const withdrawn: InboundRequest = {
    ...request,
    decision: { ...denial, reason: `${denial.reason}; ${receiptId} was not sent up` },
  };
  // A receipt is known by the id of its event, and the first one has it.
  if (message !== undefined) {
    const envelope = { ...message.envelope, event_id: request.mintId("event") };
    withdrawn.message = { ...message, envelope };
  }
  const error = obstacleError(obstacle);
  const [recorded] = await request.recorder.appendAll([inboundDraftOf(withdrawn)]);
  if (recorded === undefined) throw new TypeError("the log answered without an entry");
  attachReceipt(error, recorded.id);
  request.recorded?.({ ...withdrawn, receiptId: recorded.id, seq: recorded.seq });
  return error;
}
