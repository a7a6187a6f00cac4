import type { Quantiles } from "./statistics.js";

/** The events between the start of a run and its end. */
export type Kind = "text" | "toolcalls" | "statedeltas";

/** The agent's plan for open streams, and for those that open next. */
export type Plan =
  /** Sends the first events and then nothing, until the next plan. */
  | { readonly kind: "idle" }
  /**
   * A fixed number of events per second, distributed to the open streams in turn, each in its own
   * write.
   */
  | { readonly kind: "even"; readonly eventsPerSecond: number; readonly eventsPerRun?: number }
  /** As fast as they are received: at most `inFlight` units in flight, in writes of `block`. */
  | {
      readonly kind: "window";
      readonly inFlight: number;
      readonly block: number;
      readonly of: Kind;
    };

/** Threads whose runs are one text event each, at once and under every plan. */
export const PROBE_THREAD = "probe";

/** Counts of the events that the agent has sent. */
export type AgentTally = {
  readonly opened: number;
  readonly finished: number;
  readonly lost: number;
  /** Events with a time stamp in them. */
  readonly contents: number;
  /** All events, with starts and ends. */
  readonly events: number;
};

/** How a client reaches what is between: HTTP without a name. */
export type Transport = "tls" | "websocket";

/** The target of the client's requests. */
export type Target = {
  readonly port: number;
  readonly path: string;
  readonly transport?: Transport | undefined;
  /** Ports of further gateways: streams are distributed to all in turn. */
  readonly further?: readonly number[];
};

/** How the client opens streams. */
export type Opening = {
  readonly target: Target;
  readonly streams: number;
  /** A finished run is followed by the next one on the same connection. */
  readonly isRenewing: boolean;
  /** Reports arrivals to the agent, for plans with a window. */
  readonly acknowledgePort?: number;
};

/** The client's measurements between `measure` and `collect`; times in milliseconds. */
export type Seen = {
  readonly seconds: number;
  readonly events: number;
  /** From the agent's write to the client's read. */
  readonly delay: Quantiles;
  /** Between one event of a stream and the next. */
  readonly gap: Quantiles;
  /** From the request to the first event. */
  readonly first: Quantiles;
};

/** The results of the streams of one opening. */
export type Outcome = {
  readonly asked: number;
  readonly complete: number;
  readonly contents: number;
  readonly failures: readonly string[];
};

/** The remote calls of the agent process. */
export type AgentCalls = {
  start(): Promise<{ port: number; acknowledgePort: number }>;
  plan(plan: Plan): Promise<void>;
  /** Ends every stream, and those that still open until the next plan. */
  finish(): Promise<void>;
  tally(): Promise<AgentTally>;
};

/** The remote calls of the client process. */
export type ClientCalls = {
  /** Resolves when every stream has had its first event. */
  open(opening: Opening): Promise<void>;
  measure(): Promise<void>;
  collect(): Promise<Seen>;
  stopRenewing(): Promise<void>;
  /** Resolves when every stream has ended. */
  drain(): Promise<Outcome>;
  /** Closes without waiting for an end. */
  drop(): Promise<void>;
  /** Times from the request to the first event, beside the open streams, on one kept connection. */
  probe(target: Target, runs: number): Promise<Quantiles>;
};
