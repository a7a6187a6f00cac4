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
  /** The earlier messages. */
  readonly messages?: readonly Message[];
  readonly state?: JsonValue;
  /** Tools that the application executes itself, see `answer`. */
  readonly tools?: readonly Tool[];
  readonly context?: readonly Context[];
  readonly forwardedProps?: JsonValue;
  /** The back-off after a broken or refused connection; `false` never reconnects. */
  readonly reconnect?: Partial<BackOff> | false;
  /**
   * Verifies each receipt: `checkReceipts` of `@countersign/receipts/stream`. The transport must
   * request receipts (`receipts: true`).
   */
  readonly verifyReceipt?: VerifyReceipt;
  /** The reaction to a refused or missing receipt: count it (default), or fail the run. */
  readonly onRefusedReceipt?: "count" | "fail";
  /** Schedules notifications; one per animation frame by default. */
  readonly schedule?: Schedule;
  /** Milliseconds of silence after which a stream counts as broken; 5 minutes by default. */
  readonly idleMs?: number;
  /** Milliseconds the agent has to close a run that was stopped; 2 seconds by default. */
  readonly stopGraceMs?: number;
  /** Receives every event that passed all checks. */
  readonly onEvent?: (event: AgUiEvent) => void;
  /** Receives dropped unknown members, and deviations of the agent that did not end the run. */
  readonly onNotes?: NoteListener;
  readonly clock?: ClientClock;
  readonly random?: () => number;
  readonly mintId?: MintId;
};

/**
 * The actions of a page. Each resolves with the snapshot at the end of the run it started, also
 * when the run failed. It rejects only when no run could start.
 */
export type AgentActions = {
  /**
   * Sends a message; without content it only starts a run.
   *
   * @throws CountersignError `ERR_CLIENT_RUN_ACTIVE`, or `ERR_CLIENT_INTERRUPTS` while interrupts
   * are open
   */
  send(content?: string | ContentPart[]): Promise<AgentSnapshot>;
  /**
   * Resolves or cancels every interrupt of an interrupted run, and every one that a gateway reports
   * as open (`problem.interrupts`), for example to a page that was reloaded.
   *
   * @throws CountersignError `ERR_CLIENT_INTERRUPTS` when the entries do not match the open
   * interrupts
   */
  resume(answers: readonly ResumeEntry[]): Promise<AgentSnapshot>;
  /**
   * Sends the results of the application's own tools: for every pending call
   * (`pendingToolCallIds`), and for any other call of the conversation without a result, for
   * example after a run that ended in an error.
   *
   * @throws CountersignError `ERR_CLIENT_TOOL_CALLS` when the results do not match the pending
   * calls
   */
  answer(answers: readonly ToolResult[]): Promise<AgentSnapshot>;
  /** Repeats the last run's request as a new run. */
  retry(): Promise<AgentSnapshot>;
  /** Stops the active run; does nothing without one. */
  stop(): void;
};

/** One conversation with an agent, for any number of listeners. All functions are bound. */
export type AgentStore = AgentActions & {
  /** The snapshot, the same object until the next notification. */
  getSnapshot(): AgentSnapshot;
  /** The initial snapshot, for rendering on a server and hydrating from it. */
  getServerSnapshot(): AgentSnapshot;
  /**
   * Calls the listener after each change, at most once per frame; returns the unsubscribe function.
   */
  subscribe(listener: () => void): () => void;
  /** Ends every connection; the snapshot stays readable. */
  close(): void;
};
