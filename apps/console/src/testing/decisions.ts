import type { Entry, FeedItem } from "../api/responses.js";

/** A decision of the feed. */
export function decision(seq: number, change: Partial<FeedItem> = {}): FeedItem {
  return {
    seq,
    receipt_id: `agui-${seq}`,
    type: "TEXT_MESSAGE_CONTENT",
    direction: "outbound",
    agent_id: "support",
    session_id: "alice",
    thread_id: "t",
    run_id: "r",
    event_type: "text_stream",
    classification: "display",
    allowed: true,
    mode: "enforce",
    received_at: seq * 1000,
    ...change,
  };
}

/** An entry of the log. */
export function entry(
  seq: number,
  receipt: Partial<Entry["receipt"]> = {},
  change: Partial<Entry> = {},
): Entry {
  return {
    seq,
    direction: "outbound",
    policy_hash: "0",
    mode: "enforce",
    received_at: seq,
    ...change,
    receipt: {
      id: `agui-${seq}`,
      timestamp: 0,
      event_id: "e",
      agent_id: "support",
      capability_id: "<none>",
      event_type: "text_stream",
      classification: "display",
      transport: "sse",
      allowed: true,
      payload_hash: "0",
      kernel_key: "k",
      signature: "s",
      ...receipt,
    },
  };
}
