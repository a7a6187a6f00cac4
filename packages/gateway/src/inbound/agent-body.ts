import type { JsonObject } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { completeInput, downgradeInput } from "@countersign/wire/dialects";
import { assertInput } from "./request.js";
import type { InboundRequest } from "./request.js";

/** The body for the agent, in the dialect that the agent is configured for. */
export function agentBody(request: InboundRequest): object {
  const { message, agentDialect } = request;
  if (message !== undefined) {
    return {
      event_id: request.mintId("event"),
      timestamp: Math.floor(request.receivedAt / 1000),
      ...message.envelope,
      // The connection determines both values; the message cannot change them.
      agent_id: request.agent,
      session_id: request.sessionId,
    } satisfies JsonObject | object;
  }
  const input = assertInput(request);
  if (agentDialect === "0.0") return downgradeInput(input, "0.0.55").body;
  if (agentDialect === "0.1.0") return downgradeInput(input, "0.1.0").body;
  const sent = (request.unstrippedBody as RunAgentInput | undefined) ?? input;
  // An agent of unknown version may be of the 0.0 line, whose frameworks fail without these members.
  return agentDialect === "auto" ? completeInput(sent) : sent;
}
