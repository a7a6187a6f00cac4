import type { JsonObject } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";

/** One event as it came from the wire: JSON text, not parsed yet. */
export type Frame = {
  readonly json: string;
  /** The server's name for this place in the stream; an empty one forgets the last. */
  readonly id?: string;
  /** Milliseconds the server wants a client to wait before it comes back. */
  readonly retry?: number;
};

/** The connection broke and the transport itself is taking it up again. */
export const LOST = "lost";

/** What one read of the network brought; nothing at all is a sign of life too. */
export type Batch = readonly (Frame | typeof LOST)[];

/** What a transport is asked to carry. */
export type TransportRequest = {
  readonly input: RunAgentInput;
  /** What goes up: the input, or the form an older agent reads. */
  readonly body: JsonObject;
  /** Where the last connection of this run broke off. */
  readonly lastEventId?: string;
  /** Ends the connection; the stream then ends without an error. */
  readonly signal: AbortSignal;
};

/**
 * A way to an agent. One call of `open` is one connection that carries one run.
 *
 * A failure is a `CountersignError`; a stream that breaks off merely ends.
 */
export type Transport = {
  readonly name: string;
  open(request: TransportRequest): AsyncIterable<Batch>;
  /** Asks the agent to stop the run that is going; without it, stopping is hanging up. */
  stop?(input: RunAgentInput): void | Promise<void>;
  /** Whether a broken stream may be taken up at the last id that the server gave. */
  readonly resumable: boolean;
  /** Whether the connection outlives a run, so that its end cannot be waited for. */
  readonly shared: boolean;
  /** Ends what outlives a run. */
  close?(): void;
};
