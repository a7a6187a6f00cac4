import type { Entry } from "../api/responses.js";
import { deliveredIn } from "./steps.js";
import type { Payloads } from "./steps.js";

/**
 * A run as an `.agui.jsonl` recording: the request and the events that the client got. Blocked events are not part of
 * the conversation and are left out.
 */
export function recordingOf(run: string, entries: readonly Entry[], payloads: Payloads): string {
  const kept = entries.filter(({ seq }) => payloads.has(seq));
  const isDelivered = deliveredIn(entries);
  const [first] = kept;
  const start = first?.received_at ?? 0;
  const lines: object[] = [
    {
      kind: "header",
      schemaVersion: 1,
      tool: "countersign console",
      capturedAt: new Date(start).toISOString(),
      url: "",
      transport: first?.receipt.transport === "websocket" ? "websocket" : "sse",
      redacted: [],
    },
  ];
  let seq = 0;
  for (const entry of kept) {
    const tMs = Math.max(0, entry.received_at - start);
    const payload = payloads.get(entry.seq);
    if (entry.direction === "inbound") {
      lines.push({ kind: "request", connId: run, tMs, method: "POST", url: "", input: payload });
    } else if (isDelivered(entry)) {
      lines.push({ kind: "event", connId: run, seq, tMs, event: payload });
      seq += 1;
    }
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
