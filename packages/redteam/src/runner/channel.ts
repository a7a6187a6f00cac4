import type { CountersignError } from "@countersign/core";
import type { RunnerLimits, RunnerTimeouts, TransportKind } from "./options.js";

/** A response that is not a stream: the target refused the request. */
export type Refusal = {
  readonly status: number;
  /** Code and title of a problem document (RFC 9457), when the answer was one. */
  readonly code?: string;
  readonly title?: string;
  /** The receipt a gateway signed for its refusal. */
  readonly receipt?: string;
};

/** Receives the response to one request; `ended` is the last call. */
export type RunSink = {
  /** One JSON text from the target. */
  text(json: string): void;
  /** A non-2xx answer, with the beginning of its body. */
  refused(status: number, body: string): void;
  ended(failure?: CountersignError): void;
};

/** One request of an actor. */
export type RunRequest = {
  /** The JSON text, exactly as it is to be sent. */
  readonly body: string;
  readonly threadId: string;
  readonly runId: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** The way from one actor to the target. */
export type Channel = {
  readonly kind: TransportKind;
  /** Sends a request; the answer goes to the sink. Returns a way to stop listening. */
  start(request: RunRequest, sink: RunSink): () => void;
  /** Sends a message that is not a run, where the transport can. */
  sendFrame(json: string): boolean;
  close(): void;
};

/** Options of every channel. */
export type ChannelOptions = {
  readonly target: string;
  readonly timeouts: RunnerTimeouts;
  readonly limits: RunnerLimits;
  readonly headers: Readonly<Record<string, string>>;
};
