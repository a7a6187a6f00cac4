import type { Limits, JsonValue } from "@countersign/core";
import type { ClientState, CompiledPolicy, EventFacts } from "@countersign/policy";
import type { AgUiReceipt } from "@countersign/receipts";
import type { SurfaceFacts } from "@countersign/surface";
import type { AgUiEvent, Interrupt, RunAgentInput } from "@countersign/wire";
import type {
  Dialect,
  DowngradeTarget,
  EmitterProfile,
  DialectNote,
} from "@countersign/wire/dialects";
import type { ClientIdentity } from "./client-identity.js";
import type { ClientSink } from "./sink.js";
import type { DecisionResult, DecisionRequest } from "./judge.js";
import type { EarlierThread } from "../thread/earlier-thread.js";
import type { Clock, MintId } from "../base/ports.js";
import type { DecisionDraft, Recorded, Recorder } from "./recorder.js";
import type { WithheldRegister } from "./withheld-register.js";
import type { Backlog, Pause } from "./waits.js";
import type { EventContext } from "./event-context.js";
import type { RunLimits } from "./run-limits.js";
import type { EnforceNote } from "@countersign/wire/enforce";

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
  draftsOf(run: Run, contexts: readonly EventContext[]): DecisionDraft[];
  /** Stores the receipts of events that will be delivered. Returns the receipts that stand for the events themselves. */
  keep(contexts: readonly EventContext[], recorded: readonly Recorded[]): Recorded[];
  /** Returns the receipt of an event that is being delivered. */
  take(context: EventContext): AgUiReceipt | undefined;
};

/** The person's answers about tool calls, for `gateway/approval` and `gateway/unanswered`. */
export type CallApprovals = {
  /**
   * Whether an answer is about a tool with this name, so that calls of the tool are held until their arguments are complete; with an id,
   * also whether an answer is about the call itself.
   */
  isAbout(toolName: string, toolCallId?: string): boolean;
  /** Returns why a call may not be made or carried out; `undefined` if it may. An allowed call uses an approval. */
  refusalReason(request: DecisionRequest): string | undefined;
  /** Returns why a call may not be made or carried out before the person has answered about it. */
  unansweredReason(request: DecisionRequest): string | undefined;
  /** Whether an interrupt has the id of an open one and asks about something else. */
  isOtherQuestion(interrupt: Interrupt): boolean;
  /** Whether the answers do not cover a call that its own run may still ask about. */
  mayAsk(request: DecisionRequest): boolean;
  /** The result or the subagent of a call arrives, before the decision about it: see `mayAsk`. */
  arrives(toolCallId: string): void;
  /** The run ends by asking about this call: the call is delivered with its question, and its result is not. */
  asks(toolCallId: string): void;
};

/** Records what the run shows on surfaces, for later clicks; see `ShownSurfaces`. */
export type SurfaceLedger = {
  see(facts: SurfaceFacts): void;
  removed(sourceIds: readonly string[]): void;
  replaced(sourceId: string): void;
};

/** The times at which calls were denied on the thread, for `ag_ui_tools.quarantine`. */
export type DeniedCallTimes = {
  /** The number of calls denied since then. */
  since(time: number): number;
  add(now: number): void;
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
  /** The client in receipts, lists and log lines. */
  readonly who: ClientIdentity;
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
  readonly approvals?: CallApprovals | undefined;
  readonly deniedCalls?: () => DeniedCallTimes;
  readonly shownSurfaces?: () => SurfaceLedger;
  /** The request is one of an MCP App, which its middleware answers under the run id as thread id. */
  readonly isAppRequest?: boolean;
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
  /** Reserves events of limited tokens. The run pauses meanwhile. */
  readonly reserve?: Reserve;
  /** Rate caps that several gateways count together. The run pauses while the gateway asks the store. */
  readonly caps?: SharedCaps | undefined;
  readonly pause?: Pause;
  /** Closes the connection to the agent. */
  readonly cancel: () => void;
};

/** The number of events that a connection forwarded and blocked. */
export type RunCounters = { forwarded: number; blocked: number };

export function createRunCounters(): RunCounters {
  return { forwarded: 0, blocked: 0 };
}

/** Receives what happens in the pipeline, for metrics, the live feed and logs. It takes no part in decisions. */
export type Observer = {
  /** A stage dropped or translated something. */
  notes(notes: readonly (EnforceNote | DialectNote)[]): void;
  /** The receipt of a decision is durable. */
  recorded(context: EventContext): void;
  /**
   * Events that arrived together are recorded, and sent or withheld.
   *
   * @param contexts the number of events
   * @param arrivedAt when the last of their bytes arrived, on the clock of `performance.now()`
   */
  delivered?(contexts: number, arrivedAt: number): void;
  /** The run failed. The client received the code. The cause, and the blocked event that ended the run, are for the operator's log. */
  failed(code: string, cause: unknown, blocked?: EventContext): void;
};

/** Reserves this many events of the limited tokens. Returns a promise if it has to ask the store. */
export type Reserve = (
  presented: JsonValue | undefined,
  events: number,
) => Promise<void> | undefined;

/** Rate caps that several gateways count together. */
export type SharedCaps = {
  /** Reserves this many events like this one; without facts, of any kind. Returns a promise if it has to ask the store. */
  reserve(facts: EventFacts | undefined, events: number): Promise<void> | undefined;
  /** Returns the reserved events that the run did not need. */
  release(): void;
  /** The run ended: other runs may use the session's reserved events. */
  end(): void;
};

/** The reservations that a run may need before an event is judged. */
export type Reservations = { readonly reserve: Reserve; readonly caps: SharedCaps | undefined };
