import type { Dialect, EmitterProfile } from "@countersign/wire/dialects";
import type { IncomingHttpHeaders } from "node:http";
import { CountersignError } from "@countersign/core";
import type { JsonValue, Signal } from "@countersign/core";
import "../base/errors.js";
import { OPERATOR_AGENT } from "@countersign/policy";
import type { OpenableMethod, RuntimeCall, RuntimeForm, StreamMethod } from "./runtime-calls.js";

/** The transport to an agent. */
export type UpstreamTransport = "post-sse" | "get-sse" | "websocket";

/** The frame format of an agent on a WebSocket. */
export type FrameStyle = "json" | "data";

/** One agent as the configuration defines it: no data of a peer ever changes where the gateway connects. */
export type UpstreamTarget = {
  name: string;
  url: URL;
  transport: UpstreamTransport;
  /** Sent with every request, for example the agent's own credentials. */
  headers: Readonly<Record<string, string>>;
  /** Only for `websocket`. */
  frames: FrameStyle;
  /** The agent's dialect; `auto` detects it from the stream. */
  dialect: Dialect | "auto";
  /** Which known deviations of the agent's framework are repaired; `auto` when left out. */
  profile?: EmitterProfile;
  /** The encoding requested from an HTTP agent; SSE when left out. */
  accept?: "sse" | "protobuf";
  /** Whether the client's own `Authorization` is forwarded to the agent; false by default. */
  forwardAuthorization?: boolean;
  answerTimeoutMs: number;
  idleTimeoutMs: number;
  /** Only for a CopilotKit runtime: what of it clients may reach. */
  runtime?: RuntimeSettings;
};

/** The request of a run: one serialised RunAgentInput. */
export type UpstreamRequest = {
  body: string;
  sessionId: string;
  signal: Signal;
  /** Replaces a configured `authorization` header. */
  authorization?: string | undefined;
  /** The trace context of this run; W3C Trace Context. */
  traceparent?: string | undefined;
  /** The ids of the run, for an agent that needs an order to stop it. */
  run?: { readonly threadId: string; readonly runId: string; isClientGone(): boolean };
};

/** Bytes or frames as they arrived; the decode stage parses them. */
export type UpstreamPiece =
  | { kind: "sse"; bytes: Uint8Array }
  | { kind: "proto"; bytes: Uint8Array }
  // With `isEvent` the text is one event, taken out of a frame with several.
  | { kind: "frame"; text: string; isEvent?: true };

/**
 * Pieces from an agent, pulled by the run; unread pieces make the agent wait.
 *
 * Plain calls instead of promises: a promise for every read of every stream costs more than the event that it
 * returns.
 */
export type UpstreamPieces = {
  /** Calls back once, when there is a piece or the end to take. */
  whenReady(callback: () => void): void;
  /** Returns the next piece. Throws why the stream broke, after everything before that was taken. */
  take(): UpstreamPiece | "nothing yet" | "over";
  /** Closes the stream. */
  close(): void;
};

/** An open stream. */
export type UpstreamStream = {
  headers: IncomingHttpHeaders;
  pieces: UpstreamPieces;
  /** Whether the end of the run ends the stream; a socket stays open for the next run. */
  endsByItself: boolean;
  /** Sends a message of the client to the agent, on a WebSocket only; false when it is no longer open. */
  send?(text: string): boolean;
};

/** A connection that is opening for one request, of which nothing was sent. */
export type UpstreamConnection = {
  /** Sends the request; called once. */
  send(): Promise<UpstreamStream>;
  /** Closes the connection, if the request was not sent. */
  close(): void;
};

/** Opens streams to one agent. */
export type Upstream = {
  target: UpstreamTarget;
  open(request: UpstreamRequest): Promise<UpstreamStream>;
  /** Opens a connection before the request may be sent, on transports where this sends nothing. */
  connect?(request: UpstreamRequest): UpstreamConnection;
  close(): void;
  /** The runs that it opens repeat earlier runs of the thread to a client that has none of them. */
  isReplay?: boolean;
  /** The runs that it opens suggest what to say next: each repeats the messages of another thread under its own thread id. */
  isSuggestion?: boolean;
  /** Its other routes, if it is a CopilotKit runtime. */
  runtime?: RuntimeConnection;
};

/** The settings of an agent of the kind `copilotkit-runtime`. */
export type RuntimeSettings = {
  /** The runtime's agents that clients may reach; the first one is for requests that name none. */
  readonly agents: readonly string[];
  /** Further routes that clients may reach, unjudged. */
  readonly routes: ReadonlySet<OpenableMethod>;
};

/** An answer of a route without events. */
export type RuntimeAnswer = { readonly status: number; readonly value: JsonValue };

/** A request to a route without events. */
export type RuntimeRequest = {
  /** JSON text. */
  readonly body?: string | undefined;
  readonly sessionId: string;
  readonly signal: Signal;
  readonly authorization?: string | undefined;
};

/** The connection to a CopilotKit runtime, by its own routes. */
export type RuntimeConnection = RuntimeSettings & {
  /** An agent whose runs go to this route of the runtime. */
  upstreamOf(call: RuntimeCall & { method: StreamMethod }, form: RuntimeForm): Upstream;
  /** Calls a route without events, and parses its answer. */
  ask(call: RuntimeCall, form: RuntimeForm, request: RuntimeRequest): Promise<RuntimeAnswer>;
};

/** The session header of AgentCore, its clients and its agents; the gateway uses the same name. */
export const SESSION_HEADER = "x-amzn-bedrock-agentcore-runtime-session-id";

/** The error for a failed connection: the system's error code, never its message. */
export function unreachable(
  target: UpstreamTarget,
  error: NodeJS.ErrnoException,
): CountersignError {
  const reason = error.code ?? error.name;
  return new CountersignError(
    "ERR_UPSTREAM_UNREACHABLE",
    `agent ${target.name} could not be reached (${reason})`,
    { agent: target.name, reason },
    { cause: error },
  );
}

/** The error for a request that the agent did not accept. */
export function rejected({ name: agent }: UpstreamTarget, status: number): CountersignError {
  return new CountersignError("ERR_UPSTREAM_STATUS", `agent ${agent} responded with ${status}`, {
    agent,
    status,
  });
}

/** The error for an agent that did not respond in time. */
export function notAnswered({ name: agent, answerTimeoutMs }: UpstreamTarget): CountersignError {
  return new CountersignError("ERR_UPSTREAM_TIMEOUT", `agent ${agent} did not respond`, {
    agent,
    phase: "answer",
    milliseconds: answerTimeoutMs,
  });
}

/** The error for a stream that broke off. */
export function brokenOff(
  { name: agent }: UpstreamTarget,
  reason: string,
  cause?: unknown,
): CountersignError {
  return new CountersignError(
    "ERR_UPSTREAM_BROKEN",
    `the stream of agent ${agent} broke off (${reason})`,
    { agent, reason },
    { cause },
  );
}

/** The agents of a gateway by name; only the configuration adds one. */
export type Agents = {
  find(name: string): Upstream | undefined;
  /** The agent for paths without a name. */
  readonly fallback: Upstream;
  readonly names: readonly string[];
};

/** Creates the table of agents; the first is the fallback unless another is named. */
export function createAgents(upstreams: readonly Upstream[], fallback?: string): Agents {
  const byName = new Map(upstreams.map((upstream) => [upstream.target.name, upstream]));
  if (byName.has(OPERATOR_AGENT)) throw new TypeError(`no agent can be named ${OPERATOR_AGENT}`);
  const chosen = fallback === undefined ? upstreams[0] : byName.get(fallback);
  if (chosen === undefined) {
    throw new TypeError(
      fallback === undefined ? "no agent is configured" : `no agent is named ${fallback}`,
    );
  }
  return { find: (name) => byName.get(name), fallback: chosen, names: [...byName.keys()] };
}
