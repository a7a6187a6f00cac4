import { createHttpSink } from "../http-sink.js";
import type { HttpResponse } from "../exchange.js";
import type { Signal } from "../../base/signal.js";
import type { Telemetry } from "../../telemetry/telemetry.js";
import { SESSION_HEADER } from "../../agent/session-header.js";
import type { StreamPlace } from "./resumable-streams.js";

/** Goes on with a stream over another connection: its client's, or another gateway's on its behalf. */
export function attach(
  { stream, after }: StreamPlace,
  response: HttpResponse,
  gone: Signal,
  context: { readonly telemetry: Pick<Telemetry, "reconnects"> },
): void {
  // Who came after this one, while it was looked at, has the stream: it is not taken away for nobody.
  if (gone.aborted) return;
  const headers = { [SESSION_HEADER]: stream.holder.sessionId };
  stream.attach(after, createHttpSink(response, "sse", gone, headers), gone);
  context.telemetry.reconnects.taken += 1;
}
