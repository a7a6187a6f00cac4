import type { Limits } from "@countersign/core";
import type { ClientState, CompiledPolicy } from "@countersign/policy";
import type { AgUiReceipt } from "@countersign/receipts";
import type { EntryDraft } from "@countersign/receipts/log";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import type { Dialect, DowngradeTarget, EmitterProfile } from "@countersign/wire/dialects";
import type { ClientSink } from "./sink.js";
import type { Reserve, SharedCaps } from "./reservations.js";
import type { DecisionResult, DecisionRequest } from "./judge.js";
import type { EarlierThread } from "../thread/held-thread.js";
import type { Clock, MintId } from "../base/ports.js";
import type { RunCounters } from "./counters.js";
import type { Recorded, Recorder } from "./recorder.js";
import type { WithheldRegister } from "./withheld-register.js";
import type { Backlog } from "./backlog.js";
import type { Hold } from "./hold.js";
import type { Observer } from "./observer.js";
import type { EventContext } from "./event-context.js";
import type { RunLimits } from "./run-limits.js";

/**
 * The format that the client asked for. `envelope` has the shape of the agent's own envelopes. `as-sent` is for a client that only opened a
 * stream: envelopes if the agent sends them, else AG-UI 1.0.
 */
export type ClientDialect = DowngradeTarget | "envelope" | "as-sent";

/** The progress of the agent's stream. */
export type RunProgress = {
  /** The last run on the stream has its terminal event. */
  isOver: boolean;
  /** The requested run has its terminal event. */
  isComplete: boolean;
  /** The AG-UI events that arrived, without dropped unknown ones. */
  events: number;
};

/** Creates the receipts that a client receives together with their events. */
export type StreamReceipts = {
  /** The log entries of events that were flushed together, in the order of delivery. */
  draftsOf(run: Run, contexts: readonly EventContext[]): EntryDraft[];
  /** Stores the receipts of events that will be delivered. Returns the receipts that stand for the events themselves. */
  keep(contexts: readonly EventContext[], recorded: readonly Recorded[]): Recorded[];
  /** Returns the receipt of an event that is being delivered. */
  take(context: EventContext): AgUiReceipt | undefined;
};

/** The state and settings of one run that the stages share. */
export type Run = {
  readonly agent: string;
  readonly agentDialect: Dialect | "auto";
  /** The framework whose known deviations the gateway repairs. */
  readonly agentProfile: EmitterProfile;
  /** Whether the agent's stream ends with the run; a socket stays open. */
  readonly agentEndsStream: boolean;
  readonly clientDialect: ClientDialect;
  /** Whether the agent received the ids of the run; a `GET` request does not carry them. */
  readonly agentReadsInput: boolean;
  readonly sessionId: string;
  readonly threadId: string;
  readonly runId: string;
  readonly input: RunAgentInput;
  /** Whether an earlier run or message of the thread names this subagent. */
  readonly isSubagentOfThread: (subagentRunId: string) => boolean;
  /** The shared state and the activities that the client has. The decide stage updates it with each delivered event. */
  readonly client: ClientState;
  /** The content of the thread's ledger when the run began, without the input. */
  readonly earlier: EarlierThread;
  /** The policy of the whole run: a reload does not change it, so all receipts of a run have one policy hash. */
  readonly policy: CompiledPolicy;
  /** Evaluates the policy with the tokens and counters of this connection. */
  readonly judge: (request: DecisionRequest) => DecisionResult;
  readonly counters: RunCounters;
  readonly recorder: Recorder;
  /** The receipts for a client that asked for them. */
  readonly receipts?: StreamReceipts | undefined;
  readonly backlog: Backlog;
  readonly progress: RunProgress;
  /** The units that the gateway withholds on this thread, from this run and earlier ones. */
  readonly withheld: WithheldRegister;
  readonly sink: ClientSink;
  readonly observer: Observer;
  readonly limits: Limits;
  readonly runLimits: RunLimits;
  readonly clock: Clock;
  readonly mintId: MintId;
  /**
   * Called with the events of a flush while their receipts are written, in AG-UI 1.0 form. Delivery waits for both; a rejection ends the
   * run.
   */
  readonly beforeDelivery?: (events: readonly AgUiEvent[]) => Promise<void> | undefined;
  /** Called with each event after its receipt is durable and before it is sent, in AG-UI 1.0 form. */
  readonly delivered?: (event: AgUiEvent, context: EventContext) => void;
  /** Reserves events of limited tokens. The run is held meanwhile. */
  readonly reserve?: Reserve;
  /** Rate caps that several gateways count together. The run is held while the gateway asks the store. */
  readonly caps?: SharedCaps | undefined;
  readonly hold?: Hold;
  /** Closes the connection to the agent; the first reason stays. */
  readonly cancel: (reason: string) => void;
};
