import type { EntryDraft } from "@countersign/receipts/log";

const EVENTS_OF_A_RUN = 32;

/** A draft as a gateway makes it: runs stream the deltas of one message each, `runs` at the same time. */
export function draftOf(number: number, runs: number): EntryDraft {
  const wave = Math.floor(number / (EVENTS_OF_A_RUN * runs));
  const run = wave * runs + (runs === 1 ? 0 : number % runs);
  return {
    direction: "outbound",
    mode: "enforce",
    policy_hash: "ef".repeat(32),
    rule: "rules.ag_ui.text",
    run_id: `run_${run}`,
    thread_id: `thread_${Math.floor(run / 3)}`,
    receipt: {
      agent_id: "agent-support",
      allowed: true,
      capability_id: "<none>",
      classification: "display",
      event_id: `evt_${String(number).padStart(26, "0")}`,
      event_type: "text_stream",
      payload_hash: "cd".repeat(32),
      session_id: `sess_${Math.floor(run / 3)}`,
      target: { component_type: "chat", component_id: `message_${run}` },
      timestamp: 1_744_993_928,
      transport: "sse",
    },
  };
}
