import type { Dialect, EmitterProfile } from "@countersign/wire/dialects";
import type { IncomingHttpHeaders } from "node:http";
import type { Signal } from "../base/signal.js";

/** How the agent is spoken to. */
export type UpstreamTransport = "post-sse" | "get-sse" | "websocket";

/** How an agent on a WebSocket writes its frames. */
export type FrameStyle = "json" | "data";

/** One agent as the configuration names it: nothing a peer sends ever changes where we connect. */
export type UpstreamTarget = {
  name: string;
  url: URL;
  transport: UpstreamTransport;
  /** Sent with every request, for example the agent's own credentials. */
  headers: Readonly<Record<string, string>>;
  /** Only for `websocket`. */
  frames: FrameStyle;
  /** What the agent speaks; `auto` finds out from the stream. */
  dialect: Dialect | "auto";
  /** Which known deviations of the agent's framework are repaired; `auto` when left out. */
  profile?: EmitterProfile;
  /** Which encoding an HTTP agent is asked for; SSE when left out. */
  accept?: "sse" | "protobuf";
  /** Whether the agent gets the client's own `Authorization`; never unless the configuration says so. */
  forwardAuthorization?: boolean;
  answerTimeoutMs: number;
  idleTimeoutMs: number;
};

/** What a run sends up: one serialised RunAgentInput. */
export type UpstreamRequest = {
  body: string;
  sessionId: string;
  signal: Signal;
  /** Goes up in place of a configured `authorization` header. */
  authorization?: string | undefined;
  /** The trace this run is part of; W3C Trace Context. */
  traceparent?: string | undefined;
};

/** Bytes or frames as they arrived; their meaning is the decode stage's affair. */
export type UpstreamPiece =
  | { kind: "sse"; bytes: Uint8Array }
  | { kind: "proto"; bytes: Uint8Array }
  // With `isEvent` the text is one event, taken out of a frame with several.
  | { kind: "frame"; text: string; isEvent?: true };

/**
 * What arrives from an agent, taken by whoever has time for it; what is not taken makes the agent wait.
 *
 * Asked and answered by plain calls: a promise for every read, of every stream, costs more than the event
 * that it brings.
 */
export type UpstreamPieces = {
  /** Calls back once, when there is something to take, an end included. */
  whenReady(callback: () => void): void;
  /** What has come. Throws why the stream broke off, once everything before that was taken. */
  take(): UpstreamPiece | "nothing yet" | "over";
  /** Lets go of the stream; afterwards it is over. */
  close(): void;
};

/** An open stream. */
export type UpstreamStream = {
  headers: IncomingHttpHeaders;
  pieces: UpstreamPieces;
  /** Whether the end of the run ends the stream; a socket stays open for the next run. */
  endsByItself: boolean;
  /** Sends a message of the client up, only where the transport is a WebSocket; false when it is not open any more. */
  send?(text: string): boolean;
};

/** Opens streams to one agent. */
export type Upstream = {
  target: UpstreamTarget;
  open(request: UpstreamRequest): Promise<UpstreamStream>;
  close(): void;
};
