import { sha256Hex } from "@countersign/core";
import type { EntryDraft } from "@countersign/receipts/log";

/** A sample entry, for tests of the log. */
export function sampleDraft(eventId: string, agent = "agent-one"): EntryDraft {
  return {
    receipt: {
      timestamp: 1,
      event_id: eventId,
      agent_id: agent,
      capability_id: "<none>",
      event_type: "text_stream",
      classification: "display",
      transport: "sse",
      allowed: true,
      payload_hash: sha256Hex("{}"),
    },
    direction: "outbound",
    policy_hash: sha256Hex("policy"),
    mode: "enforce",
  };
}
