import type { Signal } from "@countersign/core";
import { createHttpSink } from "./http-sink.js";
import type { HttpEncoding } from "./http-sink.js";
import type { HttpResponse } from "./exchange.js";
import type { AccessControl } from "./access-control.js";
import type { StreamHolder } from "./resume/resumable-stream.js";
import type { RunRequest } from "../runs/start-run.js";
import { SESSION_HEADER } from "../agent/upstream.js";

/** The connection that a stream begins on, and the options of its client. */
export type StreamConnection = {
  readonly response: HttpResponse;
  readonly url: URL;
  readonly encoding: HttpEncoding;
  readonly gone: Signal;
};

/**
 * The client's side of a stream over HTTP: its sink, and the signal that the client is gone. It ends with its connection, unless the client requests resumption
 * (`?reconnect=1`): most clients cannot resume, and an agent should not keep running without a reader. Protobuf
 * frames have no event ids to resume from.
 */
export function clientSinkOf(
  accessControl: AccessControl,
  { response, url, encoding, gone }: StreamConnection,
  holder: StreamHolder,
): Pick<RunRequest, "gone" | "openSink"> {
  const isAsked = encoding === "sse" && url.searchParams.get("reconnect") === "1";
  const resumable = isAsked ? accessControl.resumableStreams.create(holder, gone) : undefined;
  return {
    gone: resumable?.gone ?? gone,
    openSink: () => {
      const sink = createHttpSink(response, encoding, gone, { [SESSION_HEADER]: holder.sessionId });
      return resumable?.open(sink, gone) ?? sink;
    },
  };
}
