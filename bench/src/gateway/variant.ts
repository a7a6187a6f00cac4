import type { Target } from "./work.js";

/** A running variant between agent and client. */
export type Running = {
  readonly target: Target;
  /** The processes in between; empty for the direct connection. */
  pids(): readonly number[];
  /** The file to which a Node program writes its heap size after a requested garbage collection. */
  readonly memoryFile?: string;
  stop(): Promise<void>;
  /** After the stop: compares the log with the events of the agent. Throws on a difference. */
  check?(sentEvents: number, isDeep: boolean): Checked;
};

/** The content of a log and whether it was verified. */
export type Checked = { readonly receipts: number; readonly verified: number };

/** The environment of a variant. */
export type Place = {
  readonly agentPort: number;
  readonly directory: string;
  /** Starts Node programs so that they can collect garbage on request. */
  readonly forMemory: boolean;
};

/** A variant between agent and client. */
export type Variant = {
  readonly id: VariantId;
  readonly label: string;
  start(place: Place): Promise<Running>;
};

/** The variants, in the order of the tables. */
export type VariantId =
  | "direct"
  | "pipe"
  | "flushing-pipe"
  | "recording-pipe"
  | "nginx"
  | CountersignMode;

/** The configuration of Countersign. */
export type CountersignMode = "observe" | "enforce-each" | "enforce-batch";
