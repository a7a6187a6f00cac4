import type { AsyncSemanticEvaluator, EvaluationOptions } from "../oatf/index.js";

/** How requests travel to the agent and events come back. */
export type TransportKind = "post" | "get" | "websocket";

/** Milliseconds the runner waits. A stream may go on for as long as its document does, if it is not silent. */
export type RunnerTimeouts = {
  /** From the request to an open connection. */
  readonly connect: number;
  /** From the open connection to the first byte of the answer's body. */
  readonly firstByte: number;
  /** Between two pieces of a stream. */
  readonly idle: number;
  /** For all actors of one document together. */
  readonly document: number;
};

/** The limits of one document. */
export type RunnerLimits = {
  readonly maxTraceEntries: number;
  /** UTF-16 code units of all events together. */
  readonly maxTraceLength: number;
  /** Bytes of one frame of the target. */
  readonly maxFrameBytes: number;
  /** Frames in a row that are not events before the stream is given up. */
  readonly maxMalformedInRow: number;
  /** Runs started to answer tool calls, in one phase. */
  readonly maxFollowUps: number;
};

/** The addresses of the servers of a document, by the name of their actor. */
export type ServerAddresses = {
  readonly mcp: Record<string, string>;
  readonly a2a: Record<string, string>;
};

/** How the agent learns where the servers of a document are. Without one of these, server actors are not performed. */
export type ServerOptions = {
  /** The port of the first server of a protocol; the next one takes the next port. Default: free ports. */
  readonly ports?: { readonly mcp?: number; readonly a2a?: number };
  /** The member of `forwardedProps` by which every run names the addresses. */
  readonly forwardedProps?: string;
  /** Is called when all servers listen, before the first client starts, and without addresses when they are closed. */
  announce?(addresses: ServerAddresses): void | Promise<void>;
};

/** Options of executing documents. */
export type RunnerOptions = {
  readonly target: string;
  /** Default: `websocket` for `ws:` and `wss:`, else `post`. */
  readonly transport?: TransportKind;
  /** Sent with every request: authorization, tenant. Never part of a report. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts?: Partial<RunnerTimeouts>;
  readonly limits?: Partial<RunnerLimits>;
  /** Milliseconds streams stay open after the last actor, where the document names no `grace_period`. */
  readonly gracePeriod?: number;
  /** Leave out the entry that joins the deltas of a run. */
  readonly strict?: boolean;
  /**
   * The target has shown that it answers a harmless request, so that a refusal (400, 403, 409, 413, 415, 422)
   * of the attack means that it resisted. Without that proof a refusal is an error.
   */
  readonly refusalsCount?: boolean;
  /** How the agent learns where MCP and A2A servers of a document are. */
  readonly servers?: ServerOptions;
  /** The addresses of the agent's own MCP and A2A servers, for actors that are clients of these. */
  readonly endpoints?: { readonly mcp?: string; readonly a2a?: string };
  readonly evaluation?: EvaluationOptions;
  readonly semantic?: AsyncSemanticEvaluator;
  readonly signal?: AbortSignal;
};

/** The waits that hold unless a caller gives others. */
export const DEFAULT_TIMEOUTS: RunnerTimeouts = Object.freeze({
  connect: 10_000,
  firstByte: 60_000,
  idle: 60_000,
  document: 300_000,
});

/** The bounds that hold unless a caller gives others. */
export const DEFAULT_RUNNER_LIMITS: RunnerLimits = Object.freeze({
  maxTraceEntries: 20_000,
  maxTraceLength: 33_554_432,
  maxFrameBytes: 4_194_304,
  maxMalformedInRow: 16,
  maxFollowUps: 8,
});

/** The transport an address asks for. */
export function transportOf(options: Pick<RunnerOptions, "target" | "transport">): TransportKind {
  return options.transport ?? (/^wss?:/i.test(options.target) ? "websocket" : "post");
}
