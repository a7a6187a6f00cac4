import type { JsonObject } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";

/** One event from the wire: JSON text, not parsed yet. */
export type Frame = {
  readonly json: string;
  /** The server's id of this event (SSE `id`); an empty one clears the last. */
  readonly id?: string;
  /** Milliseconds the server asks a client to wait before it reconnects. */
  readonly retry?: number;
};

/** The connection broke and the transport itself is reconnecting. */
export const LOST = "lost";

/** The frames of one network read; an empty batch is a sign of life too. */
export type Batch = readonly (Frame | typeof LOST)[];

/** One connection that a transport opens. */
export type TransportRequest = {
  readonly input: RunAgentInput;
  /** The request body: the input, or its form for an older agent. */
  readonly body: JsonObject;
  /** The last event id before the connection broke. */
  readonly lastEventId?: string;
  /** Ends the connection; the stream then ends without an error. */
  readonly signal: AbortSignal;
};

/**
 * A connection to an agent. One call of `open` is one connection for one run.
 *
 * A failure is a `CountersignError`; a stream that breaks merely ends.
 */
export type Transport = {
  readonly name: string;
  open(request: TransportRequest): AsyncIterable<Batch>;
  /** Asks the agent to stop the active run; without it, stopping closes the connection. */
  stop?(input: RunAgentInput): void | Promise<void>;
  /** Whether a broken stream may resume at the last id that the server gave. */
  readonly resumable: boolean;
  /** Whether the connection outlives a run, so that a run cannot wait for its end. */
  readonly shared: boolean;
  /** Closes a connection that outlives a run. */
  close?(): void;
};
