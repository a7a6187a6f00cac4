import { createHttpSink } from "./http-sink.js";
import type { HttpAnswer, HttpEncoding } from "./http-sink.js";
import type { Door } from "./access-control.js";
import type { StreamHolder } from "./resume/resumable-stream.js";
import type { RunRequest } from "../runs/start-run.js";
import type { Signal } from "../base/signal.js";
import { SESSION_HEADER } from "../agent/session-header.js";

/** The connection that a stream begins on, and what its client asked for. */
export type StreamConnection = {
  readonly answer: HttpAnswer;
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
  door: Door,
  { answer, url, encoding, gone }: StreamConnection,
  holder: StreamHolder,
): Pick<RunRequest, "gone" | "openSink"> {
  const isAsked = encoding === "sse" && url.searchParams.get("reconnect") === "1";
  const lasting = isAsked ? door.lasting.create(holder, gone) : undefined;
  return {
    gone: lasting?.gone ?? gone,
    openSink: () => {
      const sink = createHttpSink(answer, encoding, gone, { [SESSION_HEADER]: holder.sessionId });
      return lasting?.open(sink, gone) ?? sink;
    },
  };
}
