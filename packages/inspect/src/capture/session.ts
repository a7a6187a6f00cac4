import { CountersignError } from "@countersign/core";
import { SseTap } from "../framing/sse-tap.js";
import { Recorder } from "./recorder.js";
import type { RecorderOptions } from "./recorder.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The session to be recorded answered with an error status. */
    ERR_INSPECT_SESSION_REFUSED: { status: number };
  }
}

/** How to record a stream by listening to it. */
export type SessionCaptureOptions = Omit<RecorderOptions, "target" | "transport"> & {
  /** A GET stream, for example a gateway's `/ag-ui/stream?session=…`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/** Joins a running session as one more reader and records it until it ends or the signal says stop. */
export async function captureSession(options: SessionCaptureOptions): Promise<void> {
  const url = new URL(options.url);
  const recorder = new Recorder({
    ...options,
    target: `${url.origin}${url.pathname}`,
    transport: "sse",
  });
  const connection = recorder.connection("GET", url.pathname);
  const response = await fetch(url, {
    headers: { ...options.headers, accept: "text/event-stream" },
    signal: options.signal ?? null,
    // The headers may hold tokens, and were meant for this address.
    redirect: "manual",
  });
  connection.request("");
  connection.response(response.status, response.headers.get("content-type") ?? "");
  if (!response.ok || response.body === null) {
    throw new CountersignError(
      "ERR_INSPECT_SESSION_REFUSED",
      `the session answered with status ${response.status}`,
      { status: response.status },
    );
  }
  const tap = new SseTap({
    frame: ({ data, event, id }) =>
      connection.event(data, {
        ...(event === undefined ? {} : { sseEvent: event }),
        ...(id === undefined ? {} : { sseId: id }),
      }),
    comment: (text) => connection.comment(text),
  });
  try {
    for await (const chunk of response.body) tap.push(chunk);
    tap.end();
    connection.end("complete");
  } catch {
    connection.end("cut");
  }
}
