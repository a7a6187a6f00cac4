import type { Target, Transport } from "./work.js";

/** A running variant between agent and client. */
export type Running = {
  readonly target: Target;
  /** The processes in between; empty for the direct connection. */
  pids(): readonly number[];
  /** The file to which a Node program writes its heap size after a requested garbage collection. */
  readonly memoryFile?: string;
  stop(): Promise<void>;
  /** After the stop: stops the database that held the log. */
  release?(): Promise<void>;
  /** Between the two: compares the log with the events of the agent. Throws on a difference. */
  check?(sentEvents: number, isDeep: boolean): Checked;
};

/** The content of a log and whether it was verified. */
export type Checked = { readonly receipts: number; readonly verified: number };

/** How a variant is set up, if not for HTTP, SQLite and `sign: batch`. */
export type Setup = {
  readonly transport?: Transport;
  readonly store?: "postgres";
  readonly sign?: "each";
};

/** The environment of a variant. */
export type Place = Setup & {
  readonly agentPort: number;
  readonly directory: string;
  /** A database that several gateways share, their key directory, and lines of the configuration. */
  readonly shared?: { readonly database: string; readonly keys: string; readonly lines: string };
  /** Starts Node programs so that they can collect garbage on request. */
  readonly forMemory: boolean;
};

/** A variant between agent and client. */
export type Variant = {
  readonly id: VariantId;
  readonly label: string;
  readonly parts: readonly Part[];
  start(place: Place): Promise<Running>;
};

/**
 * What is measured of a variant: delays and saturation, the same for other kinds of events and for
 * short runs, memory of held streams, or only live events (of a variant set up differently).
 */
export type Part = "rates" | "kinds" | "holding" | "live";

/** The variants, in the order of the tables. */
export type VariantId =
  | "direct"
  | "nginx"
  | Bare
  | Enforcing
  | `${"pipe" | "enforce"}-${Transport}`;
type Bare = "pipe" | "recording-pipe";
type Enforcing = "enforce-each" | "enforce-batch" | "enforce-postgres";
