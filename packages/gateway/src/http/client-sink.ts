import type { Signal } from "@countersign/core";
import { createHttpSink } from "./http-sink.js";
import type { HttpEncoding } from "./http-sink.js";
import type { HttpResponse } from "./exchange.js";
import type { AccessControl } from "./access-control.js";
import type { StreamHolder } from "./resume/resumable-stream.js";
import { createHttpReader } from "./resume/stream-reader.js";
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
 * (`?reconnect=1`): most clients cannot resume, and an agent should not keep running without a reader.
 */
export function clientSinkOf(
  accessControl: AccessControl,
  { response, url, encoding, gone }: StreamConnection,
  holder: StreamHolder,
): Pick<RunRequest, "gone" | "openSink"> {
  const resumable = asksToResume(url)
    ? accessControl.resumableStreams.create(holder, gone)
    : undefined;
  const { sessionId } = holder;
  return {
    gone: resumable?.gone ?? gone,
    openSink: (run) => {
      if (resumable === undefined) {
        return createHttpSink(response, encoding, gone, { [SESSION_HEADER]: sessionId });
      }
      const { key } = resumable;
      const reader = createHttpReader(response, encoding, gone, { key, sessionId });
      return resumable.open(reader, gone, run);
    },
  };
}

/** Whether a client requests a stream that it can resume. */
export function asksToResume(url: URL): boolean {
  return url.searchParams.get("reconnect") === "1";
}
