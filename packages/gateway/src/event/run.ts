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
 * What the client asked to be served in. `envelope` is the shape of the agent's own envelopes; `as-sent`
 * is for a client that only opened a stream: envelopes for an agent that sends them, else 1.0.
 */
export type ClientDialect = DowngradeTarget | "envelope" | "as-sent";

/** How far the agent's stream has come. */
export type RunProgress = {
  /** The last run on the stream has had its terminal event. */
  isOver: boolean;
  /** The run that was asked for has had its terminal event. */
  isComplete: boolean;
  /** Events of AG-UI that came; what was dropped as unknown is none. */
  events: number;
};

/** The receipts that go to the client of one run, with the events they are about. */
export type StreamReceipts = {
  /** What the log is told about events that belong together, in the order they will be shown. */
  draftsOf(run: Run, contexts: readonly EventContext[]): EntryDraft[];
  /** Takes down the receipts of what will be shown; gives those that stand for the events themselves. */
  keep(contexts: readonly EventContext[], recorded: readonly Recorded[]): Recorded[];
  /** The receipt of a event that is delivered now. */
  take(context: EventContext): AgUiReceipt | undefined;
};

/** Everything the stages share about one run. */
export type Run = {
  readonly agent: string;
  readonly agentDialect: Dialect | "auto";
  /** Which known deviations of the agent's framework are repaired. */
  readonly agentProfile: EmitterProfile;
  /** Whether the agent's stream ends with its run; a socket stays open. */
  readonly agentEndsStream: boolean;
  readonly clientDialect: ClientDialect;
  /** Whether the agent was told the ids it should answer with; a `GET` cannot tell it. */
  readonly agentReadsInput: boolean;
  readonly sessionId: string;
  readonly threadId: string;
  readonly runId: string;
  readonly input: RunAgentInput;
  /** Whether a subagent is known from what was said and delivered on the thread before this run. */
  readonly isSubagentOfThread: (subagentRunId: string) => boolean;
  /** The shared state and the activities that the client has; the decision tells it what is delivered. */
  readonly client: ClientState;
  /** What the ledger knew of the thread, beside the input, when the run began. */
  readonly earlier: EarlierThread;
  /** The policy is pinned when the run starts: one run, one hash. */
  readonly policy: CompiledPolicy;
  /** Asks the policy, with the tokens and counters of this connection. */
  readonly judge: (question: DecisionRequest) => DecisionResult;
  readonly counters: RunCounters;
  readonly recorder: Recorder;
  /** The receipts of what the client is shown, where it asked for them. */
  readonly receipts?: StreamReceipts | undefined;
  readonly backlog: Backlog;
  readonly progress: RunProgress;
  /** What this thread's person must not see, from this run and earlier ones. */
  readonly withheld: WithheldRegister;
  readonly sink: ClientSink;
  readonly observer: Observer;
  readonly limits: Limits;
  readonly runLimits: RunLimits;
  readonly clock: Clock;
  readonly mintId: MintId;
  /**
   * Told of what arrived together and is about to be delivered, while its receipts are written: events in
   * the form the client gets before its dialect. Delivery waits for both; a rejection ends the run.
   */
  readonly beforeDelivery?: (events: readonly AgUiEvent[]) => Promise<void> | undefined;
  /** Told of each event whose receipt is durable, right before it is written to the client, in that form. */
  readonly delivered?: (event: AgUiEvent, context: EventContext) => void;
  /** Asks for the events of limited tokens before they are needed; the run is held meanwhile. */
  readonly reserve?: Reserve;
  /** Caps over time that other gateways count too, where there are such; the run is held while they are asked about. */
  readonly caps?: SharedCaps | undefined;
  readonly hold?: Hold;
  /** Ends the agent's side; the first reason wins. */
  readonly cancel: (reason: string) => void;
};
