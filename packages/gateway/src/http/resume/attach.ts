import { createHttpSink } from "../http-sink.js";
import type { HttpResponse } from "../exchange.js";
import type { Signal } from "../../base/signal.js";
import type { Telemetry } from "../../telemetry/telemetry.js";
import { SESSION_HEADER } from "../../agent/session-header.js";
import type { StreamPosition } from "./resumable-streams.js";

/** Attaches a new connection to a stream: its client's, or another gateway's on its behalf. */
export function attach(
  { stream, after }: StreamPosition,
  response: HttpResponse,
  gone: Signal,
  context: { readonly telemetry: Pick<Telemetry, "reconnects"> },
): void {
  // A later connection may have attached during the check; a closed one must not take the stream from it.
  if (gone.aborted) return;
  const headers = { [SESSION_HEADER]: stream.holder.sessionId };
  stream.attach(after, createHttpSink(response, "sse", gone, headers), gone);
  context.telemetry.reconnects.taken += 1;
}
