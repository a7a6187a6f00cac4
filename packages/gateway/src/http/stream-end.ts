import { createHttpSink } from "./http-sink.js";
import type { HttpEncoding } from "./http-sink.js";
import type { HttpResponse } from "./exchange.js";
import type { AccessControl } from "./access-control.js";
import type { StreamHolder } from "./resume/resumable-stream.js";
import type { RunRequest } from "../runs/start-run.js";
import type { Signal } from "../base/signal.js";
import { SESSION_HEADER } from "../agent/session-header.js";

/** The connection that a stream begins on, and what its client asked for. */
export type StreamConnection = {
  readonly response: HttpResponse;
  readonly url: URL;
  readonly encoding: HttpEncoding;
  readonly gone: Signal;
};

/**
 * The person's end of a stream over HTTP. It ends with its connection, unless the client asks to be able to come
 * back (`?reconnect=1`): most cannot, and an agent should not go on talking to nobody. Frames of protobuf have no
 * ids to come back to.
 */
export function streamEndOf(
  accessControl: AccessControl,
  { response, url, encoding, gone }: StreamConnection,
  holder: StreamHolder,
): Pick<RunRequest, "gone" | "openSink"> {
  const isAsked = encoding === "sse" && url.searchParams.get("reconnect") === "1";
  const resumableStreams = isAsked
    ? accessControl.resumableStreams.create(holder, gone)
    : undefined;
  return {
    gone: resumableStreams?.gone ?? gone,
    openSink: () => {
      const sink = createHttpSink(response, encoding, gone, { [SESSION_HEADER]: holder.sessionId });
      return resumableStreams?.open(sink, gone) ?? sink;
    },
  };
}
