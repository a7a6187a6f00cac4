import type { AgUiEvent } from "@countersign/wire";

/** The transport a receipt names. */
export type ReceiptTransport = "sse" | "websocket";

/**
 * One person's end of a stream.
 *
 * `send` never blocks; a caller that sees `isSlow` waits for `drained`, so that a slow reader makes
 * only its own agent wait.
 */
export type ClientSink = {
  readonly transport: ReceiptTransport;
  /** Whether the peer is behind; the caller waits for `drained` before it sends more. */
  readonly isSlow: boolean;
  /** Whether nobody is connected at the moment, of a stream that waits for its client. */
  readonly isAway?: boolean;
  /** Writes events in order, in one piece; where the JSON text of one is known, it is written as it is. */
  send(events: readonly AgUiEvent[], texts?: readonly (string | undefined)[]): void;
  /** Resolves when the peer has caught up or is gone. */
  drained(): Promise<void>;
  /** Keeps the connection warm; never an event. */
  heartbeat(): void;
  /** Ends the stream; for a socket that carries several runs, ends this run only. */
  end(): void;
};
