import { encodeSse } from "@countersign/wire/sse";
import type { Projected } from "../project.js";
import { envelopeOf } from "./envelope.js";

/** The format of a stream. */
export type StreamFormat = "ag-ui" | "envelope";

/**
 * A projected event as SSE text. In the format `ag-ui` each frame is one message, as AG-UI clients
 * expect. With `cursor` the last one has the ledger id: a client that received it has the whole
 * event.
 */
export function encodeProjected(
  projected: Projected,
  format: StreamFormat = "ag-ui",
  cursor?: number,
): string {
  if (format === "envelope") {
    const envelope = envelopeOf(projected);
    if (envelope === undefined) return "";
    return encodeSse(JSON.stringify(envelope), { event: "ag_ui", id: String(envelope.id) });
  }
  const last = projected.frames.length - 1;
  return projected.frames
    .map((frame, index) =>
      index === last && cursor !== undefined
        ? encodeSse(JSON.stringify(frame), { id: String(cursor) })
        : encodeSse(JSON.stringify(frame)),
    )
    .join("");
}
