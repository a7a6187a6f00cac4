import type { Quantiles } from "./statistics.js";

/** What the agent does with the streams that are open, and with those that open next. */
export type Plan =
  /** Says hello and then nothing, until told otherwise. */
  | { readonly kind: "idle" }
  /** A fixed number of events per second, dealt to the open streams in turn, each in a write of its own. */
  | { readonly kind: "even"; readonly eventsPerSecond: number; readonly eventsPerRun?: number }
  /** As fast as they are taken: never more than `inFlight` events are on the way, in writes of `block`. */
  | { readonly kind: "window"; readonly inFlight: number; readonly block: number }
  /** A whole run at once. */
  | { readonly kind: "brief"; readonly events: number };

/** What the agent has sent since it started. */
export type AgentTally = {
  readonly opened: number;
  readonly finished: number;
  readonly lost: number;
  /** Text events with a time stamp in them. */
  readonly contents: number;
  /** All events, with starts and ends. */
  readonly events: number;
};

/** Where the client sends its requests. */
export type Target = { readonly port: number; readonly path: string };

/** How the client opens streams. */
export type Opening = {
  readonly target: Target;
  readonly streams: number;
  /** A finished run is followed by the next one on the same connection. */
  readonly isRenewing: boolean;
  /** Tells the agent what arrived, for plans with a window. */
  readonly acknowledgePort?: number;
};

/** What the client saw between `measure` and `collect`; times in milliseconds. */
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

/** What became of the streams of one opening. */
export type Outcome = {
  readonly asked: number;
  readonly complete: number;
  readonly contents: number;
  readonly failures: readonly string[];
};

/** What the agent process answers to. */
export type AgentCalls = {
  start(): Promise<{ port: number; acknowledgePort: number }>;
  plan(plan: Plan): Promise<void>;
  /** Ends every stream, and those that still open until the next plan. */
  finish(): Promise<void>;
  tally(): Promise<AgentTally>;
};

/** What the client process answers to. */
export type ClientCalls = {
  /** Resolves when every stream has had its first event. */
  open(opening: Opening): Promise<void>;
  measure(): Promise<void>;
  collect(): Promise<Seen>;
  stopRenewing(): Promise<void>;
  /** Resolves when every stream has ended. */
  drain(): Promise<Outcome>;
  /** Hangs up without waiting for an end. */
  drop(): Promise<void>;
  /** One run after another on one connection. */
  sequence(target: Target, runs: number): Promise<{ first: Quantiles; outcome: Outcome }>;
};
