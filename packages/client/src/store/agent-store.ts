import type { JsonValue } from "@countersign/core";
import type {
  AgUiEvent,
  ContentPart,
  Context,
  Message,
  ResumeEntry,
  Tool,
} from "@countersign/wire";
import type { ReadOptions } from "../stream/options.js";
import type { NoteListener } from "../stream/pipeline.js";
import type { Transport } from "../transport/transport.js";
import type { VerifyReceipt } from "../view/receipts.js";
import type { AgentSnapshot } from "../view/snapshot.js";
import type { ToolResult } from "./answers.js";
import type { BackOff } from "./back-off.js";
import type { ClientClock } from "./clock.js";
import type { MintId } from "../base/ids.js";
import type { Schedule } from "./schedule.js";

/** Options of `createAgentStore`. */
export type AgentStoreOptions = ReadOptions & {
  readonly transport: Transport;
  /** The conversation; a fresh one by default. */
  readonly threadId?: string;
  /** What was said before. */
  readonly messages?: readonly Message[];
  readonly state?: JsonValue;
  /** Tools that the application executes itself, see `answer`. */
  readonly tools?: readonly Tool[];
  readonly context?: readonly Context[];
  readonly forwardedProps?: JsonValue;
  /** How a broken or refused connection is tried again; `false` never does. */
  readonly reconnect?: Partial<BackOff> | false;
  /**
   * Decides about each receipt that arrives: `checkReceipts` of `@countersign/receipts/stream`. The transport must
   * ask for them (`receipts: true`).
   */
  readonly verifyReceipt?: VerifyReceipt;
  /** What a receipt that is refused or missing means: a number to show (default), or the end of the run. */
  readonly onRefusedReceipt?: "count" | "fail";
  /** When listeners are told; once per drawn frame by default. */
  readonly schedule?: Schedule;
  /** Milliseconds of silence after which a stream counts as broken; 5 minutes by default. */
  readonly idleMs?: number;
  /** Milliseconds the agent has to close a run that was stopped; 2 seconds by default. */
  readonly stopGraceMs?: number;
  /** Sees every event that passed all checks. */
  readonly onEvent?: (event: AgUiEvent) => void;
  /** Receives what was dropped as unknown, and deviations of the agent that did not end the run. */
  readonly onNotes?: NoteListener;
  readonly clock?: ClientClock;
  readonly random?: () => number;
  readonly mintId?: MintId;
};

/**
 * What a page can ask for. Each answers with the snapshot at the end of the run that it started, however
 * that ended; it rejects only when no run could be started.
 */
export type AgentActions = {
  /**
   * Says something, or with no text just starts a run.
   *
   * @throws CountersignError `ERR_CLIENT_RUN_ACTIVE`, or `ERR_CLIENT_INTERRUPTS` while questions are open
   */
  send(content?: string | ContentPart[]): Promise<AgentSnapshot>;
  /**
   * Answers the questions of an interrupted run, all of them.
   *
   * @throws CountersignError `ERR_CLIENT_INTERRUPTS` when the answers do not fit
   */
  resume(answers: readonly ResumeEntry[]): Promise<AgentSnapshot>;
  /**
   * Gives back what the application's own tools returned: for every call that waits (`pendingToolCallIds`), and for any other
   * call of the conversation that has no result, as after a run that ended in an error.
   *
   * @throws CountersignError `ERR_CLIENT_TOOL_CALLS` when the answers do not fit the calls that wait
   */
  answer(answers: readonly ToolResult[]): Promise<AgentSnapshot>;
  /** Asks once more what the last run was asked, as a new run. */
  retry(): Promise<AgentSnapshot>;
  /** Stops the run that is going; nothing when none is. */
  stop(): void;
};

/** One conversation with an agent, for any number of listeners. All functions are bound. */
export type AgentStore = AgentActions & {
  /** The snapshot, the same object until listeners are told. */
  getSnapshot(): AgentSnapshot;
  /** The snapshot before anything happened, for rendering on a server and hydrating from it. */
  getServerSnapshot(): AgentSnapshot;
  /** Calls back after each change, at most once per frame; returns how to stop that. */
  subscribe(listener: () => void): () => void;
  /** Ends everything; the store can be read but no longer used. */
  close(): void;
};
