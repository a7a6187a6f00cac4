import type { Target } from "./work.js";

/** What stands between agent and client, running. */
export type Running = {
  readonly target: Target;
  /** The processes that stand in between; none when nothing does. */
  pids(): readonly number[];
  /** Where a Node program writes its heap size when it is asked to collect garbage. */
  readonly memoryFile?: string;
  stop(): Promise<void>;
  /** After the stop: whether what was kept agrees with what the agent sent. Throws when not. */
  check?(sentEvents: number, isDeep: boolean): Checked;
};

/** What a log held and whether it was verified. */
export type Checked = { readonly receipts: number; readonly verified: number };

/** Where a variant works. */
export type Place = {
  readonly agentPort: number;
  readonly directory: string;
  /** Node programs are started so that they can be told to collect garbage. */
  readonly forMemory: boolean;
};

/** Something to stand between agent and client. */
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

/** How Countersign is set up. */
export type CountersignMode = "observe" | "enforce-each" | "enforce-batch";
