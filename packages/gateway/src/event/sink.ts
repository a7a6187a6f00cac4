import type { AgUiEvent } from "@countersign/wire";

/** The transport that a receipt names. */
export type ReceiptTransport = "sse" | "websocket";

/**
 * The client's end of a stream.
 *
 * `send` never blocks. A caller that sees `isSlow` waits for `drained`, so that a slow client slows down only its own agent.
 */
export type ClientSink = {
  readonly transport: ReceiptTransport;
  /** Whether the client is behind; the caller waits for `drained` before it sends more. */
  readonly isSlow: boolean;
  /** Whether the client of a resumable stream is disconnected. */
  readonly isDisconnected?: boolean;
  /** Sends events in order, in one write. If an event has a text, the sink sends that text. */
  send(events: readonly AgUiEvent[], texts?: readonly (string | undefined)[]): void;
  /** Resolves when the client has caught up or is gone. */
  drained(): Promise<void>;
  /** Keeps the connection open without sending an event. */
  heartbeat(): void;
  /** Ends the stream. On a socket with several runs, ends this run only. */
  end(): void;
};
