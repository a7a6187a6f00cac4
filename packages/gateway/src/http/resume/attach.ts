import { createHttpSink } from "../http-sink.js";
import type { HttpAnswer } from "../http-sink.js";
import type { Signal } from "../../base/signal.js";
import type { Telemetry } from "../../telemetry/telemetry.js";
import { SESSION_HEADER } from "../../agent/session-header.js";
import type { StreamPlace } from "./resumable-streams.js";

/** Goes on with a stream over another connection: its client's, or another gateway's on its behalf. */
export function goOn(
  { stream, after }: StreamPlace,
  answer: HttpAnswer,
  gone: Signal,
  around: { readonly telemetry: Pick<Telemetry, "reconnects"> },
): void {
  // Who came after this one, while it was looked at, has the stream: it is not taken away for nobody.
  if (gone.aborted) return;
  const headers = { [SESSION_HEADER]: stream.holder.sessionId };
  stream.takeUp(after, createHttpSink(answer, "sse", gone, headers), gone);
  around.telemetry.reconnects.taken += 1;
}
