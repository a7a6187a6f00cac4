import type { HashedDraft } from "../entry/draft.js";
import type { Classification } from "@countersign/core";

const CLASSES: readonly Classification[] = ["display", "mutate", "submit", "alert"];

/** The draft of a made-up event; every seventh was blocked. */
export function draftOf(number: number, changes: Partial<HashedDraft> = {}): HashedDraft {
  const allowed = number % 7 !== 3;
  return {
    direction: number % 5 === 0 ? "inbound" : "outbound",
    mode: "enforce",
    policy_hash: "ef".repeat(32),
    received_at: 1_744_993_928_000 + number * 10,
    run_id: `run_${Math.floor(number / 20)}`,
    thread_id: `thread_${number % 3}`,
    ...(number % 2 === 0 ? { rule: `rules.ag_ui[${number % 4}]` } : {}),
    // As an older version wrote them: every fifth entry has none of these members.
    ...(number % 5 === 4
      ? {}
      : { principal: `user-${number % 3}`, client_address: `192.0.2.${number % 7}` }),
    ...(number % 4 === 2 ? { tool: `Send_${number % 3}` } : {}),
    ...(allowed ? {} : { path: `/links/${number % 2}` }),
    receipt: {
      agent_id: `agent-${number % 4}`,
      allowed,
      capability_id: number % 3 === 0 ? "cap-1" : "<none>",
      classification: CLASSES[number % CLASSES.length] as Classification,
      event_id: `evt_${String(number).padStart(26, "0")}`,
      event_type: number % 11 === 0 ? { custom: "clipboard" } : "form_action",
      payload_hash: "cd".repeat(32),
      session_id: `sess_${number % 6}`,
      timestamp: 1_744_993_928,
      transport: number % 2 === 0 ? "sse" : "websocket",
      ...(number % 4 === 1
        ? {}
        : {
            target: {
              component_type: number % 3 === 0 ? "modal" : "chat",
              component_id: `c${number % 5}`,
            },
          }),
      ...(allowed ? {} : { denial_reason: "capability required for Submit events" }),
    },
    ...changes,
  };
}
