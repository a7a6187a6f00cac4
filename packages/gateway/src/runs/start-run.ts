import { CountersignError } from "@countersign/core";
import { ClientState } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import { Backlog, Pause } from "../event/waits.js";
import type { RunLimits } from "../event/run-limits.js";
import type { ClientIdentity } from "../event/client-identity.js";
import type { ClientDialect, Run } from "../event/run.js";
import type { ClientSink } from "../event/sink.js";
import { admitRequest } from "../inbound/admit.js";
import { approvalsOf } from "../inbound/approval.js";
import { isMatchedAppRequest } from "../inbound/clicks.js";
import "../base/errors.js";
import { assertInput } from "../inbound/request.js";
import type { InboundRequest } from "../inbound/request.js";
import { subagentsOf } from "../outbound/order/subagents.js";
import { ReceiptChain, showsHashedForm } from "../outbound/record/receipt-chain.js";
import type { ReceiptRequest } from "../outbound/record/receipt-chain.js";
import { isWithheldMessage } from "../outbound/withhold/messages.js";
import type { RunHandle } from "../sessions/sessions.js";
import { countObserved } from "../telemetry/count-event.js";
import { earlierActivities, replayedThread, unsentMessages } from "../thread/earlier-thread.js";
import { stateAtStart } from "../thread/shared-state.js";
import type { Upstream, UpstreamStream } from "../agent/upstream.js";
import { ActiveRun } from "./active-run.js";
import type { RunOrigin } from "./active-run.js";
import type { RunCapabilities } from "./run-capabilities.js";
import type { GatewayContext } from "./gateway-context.js";
import { RunObserver } from "./run-observer.js";
import type { ThreadLease } from "../inbound/thread-lease.js";

/** A listener's request to start a run. */
export type RunRequest = RunOrigin & {
  readonly bytes: Uint8Array | string;
  /** The dialect that the client asked for. */
  readonly clientDialect?: ClientDialect | undefined;
  /** True when the client only opened a stream, and the gateway made the input. */
  readonly hasNoInput?: boolean;
  /** Set when the client asks for the receipts of delivered events. */
  readonly receipts?: ReceiptRequest | undefined;
  /** Opens the client's stream once the agent has responded; nothing was sent to the client before. */
  openSink(run: OpenedRun): ClientSink;
};

/** The run of a client's stream, from which another gateway can write its end. */
export type OpenedRun = {
  readonly threadId: string;
  readonly runId: string;
  readonly clientDialect: ClientDialect;
  readonly client: ClientIdentity;
  /** Whether the client gets receipts. */
  readonly hasReceipts: boolean;
};

/** A run in progress. */
export type StartedRun = {
  readonly handle: RunHandle;
  readonly done: Promise<void>;
  /** Sends a judged message of the client to an agent on a WebSocket; false when it was not sent. */
  readonly send: ((text: string) => boolean) | undefined;
  /** Tells whether the client has got the end of the run. */
  readonly threadLease: Pick<ThreadLease, "isEnding">;
};

/** The header in which an agent's response may bring a token. */
const CAPABILITY_HEADER = "countersign-capability";

/**
 * Admits a request, opens the agent's stream and runs it through the pipeline to the client.
 *
 * Throws only before anything was sent: the listener responds with an HTTP error or a close code.
 */
export async function startRun(context: GatewayContext, request: RunRequest): Promise<StartedRun> {
  const { upstream } = request;
  const active = new ActiveRun(context, request);
  const { capabilities } = active.connection;
  let inbound: InboundRequest | undefined;
  try {
    if (context.drain.isDraining) {
      throw new CountersignError("ERR_RUN_DRAINING", "the gateway accepts no new runs", {});
    }
    context.containment.assertNotContained(upstream.target.name);
    inbound = active.connection.inbound("input", request.bytes, { opening: active });
    await admitRequest(inbound);
    countObserved(context.telemetry, inbound);
    if (inbound.isStripped === true) context.telemetry.stripped.add(upstream.target.name);
    await active.thread.accept(inbound.policyWouldBlock);
    const stream = await active.send();
    const token = stream.headers[CAPABILITY_HEADER];
    if (typeof token === "string") {
      capabilities.add(token);
      await capabilities.reserve(undefined, 1, true);
    }
    const run = createRun(context, active, request, inbound, stream);
    const { handle, thread } = active;
    return { handle, done: active.drive(run, stream), send: stream.send, threadLease: thread };
  } catch (error) {
    await active.refuse(inbound, error);
    throw error;
  }
}

/** The run as the pipeline sees it. Its closures refer to the run, and not to the request. */
function createRun(
  context: GatewayContext,
  { connection, handle, thread, cancel }: ActiveRun,
  request: RunRequest,
  inbound: InboundRequest,
  stream: UpstreamStream,
): Run {
  const input = assertInput(inbound);
  const isAppRequest = isMatchedAppRequest(inbound.surfaceRequests);
  const { policy } = connection;
  const { target } = request.upstream;
  const { runId, threadId } = input;
  const clientDialect = request.clientDialect ?? dialectOf(input);
  const receipts = receiptsFor(context, clientDialect, request.receipts);
  const sink = request.openSink({
    runId,
    threadId,
    clientDialect:
      clientDialect === "as-sent" && target.dialect === "chio" ? "envelope" : clientDialect,
    client: connection.client,
    hasReceipts: receipts !== undefined,
  });
  const observer = new RunObserver(context, connection.session, handle);
  const withheld = thread.openWithheld();
  const isReplay = request.upstream.isReplay === true;
  const earlier = isReplay ? replayedThread(thread.earlier()) : thread.earlier();
  const run: Run = {
    agent: target.name,
    agentDialect: target.dialect,
    agentProfile: target.profile ?? "auto",
    agentEndsStream: stream.endsByItself,
    ...(isReplay ? { isReplay } : {}),
    clientDialect,
    agentReadsInput: target.transport !== "get-sse",
    sessionId: request.sessionId,
    who: connection.client,
    threadId,
    runId,
    input,
    isSubagentOfThread: subagentsOf(input.messages, thread.state.messages),
    earlier,
    client: new ClientState(
      stateAtStart(input.state, thread.state.shared),
      input.messages,
      policy.refinements.lists === "parts"
        ? {
            sent: input.messages,
            unsent: unsentMessages(thread.state, earlier),
            order: thread.state.own && thread.state.order,
            isWithheld: (message) => isWithheldMessage(message, withheld),
          }
        : undefined,
      earlierActivities(earlier),
      // A client that opened its stream without an input may have had a state before.
      target.transport === "get-sse" || request.hasNoInput === true,
    ),
    policy,
    judge: connection.judge,
    approvals: approvalsOf(policy, thread.approvals, thread.state),
    deniedCalls: () => thread.deniedCalls(),
    shownSurfaces: () => thread.shownSurfaces(),
    isAppRequest,
    beforeDelivery: isReplay ? thread.followReplay(clientDialect) : thread.follow(clientDialect),
    counters: handle.counters,
    recorder: context.recorder,
    receipts,
    backlog: new Backlog(),
    progress: { isOver: false, isComplete: false, events: 0 },
    withheld,
    sink,
    observer,
    limits: context.limits,
    runLimits: runLimitsOf(context, request.upstream),
    clock: context.clock,
    mintId: context.mintId,
    reserve: reserverOf(connection.capabilities),
    caps: connection.caps,
    pause: new Pause(),
    cancel,
  };
  observer.watch(run);
  return run;
}

/** An agent that may be silent for longer may also go without an event for as long. */
function runLimitsOf({ runLimits }: GatewayContext, { target }: Upstream): RunLimits {
  const runSilenceMs = Math.max(runLimits.runSilenceMs, target.idleTimeoutMs);
  const { runMs, runEvents, runBytes, encryptedBytes } = runLimits;
  return { runMs, runSilenceMs, runEvents, runBytes, encryptedBytes };
}

/** A function of its own, so that its closure holds the tokens and not the request. */
function reserverOf(capabilities: RunCapabilities): NonNullable<Run["reserve"]> {
  return (presented, events) => capabilities.reserve(presented, events);
}

/** The client gets receipts that it can verify, or none. */
function receiptsFor(
  { givesReceipts, mintId }: GatewayContext,
  dialect: ClientDialect,
  request: ReceiptRequest | undefined,
): ReceiptChain | undefined {
  const isGiven = request !== undefined && givesReceipts && showsHashedForm(dialect);
  return isGiven ? new ReceiptChain(mintId, request) : undefined;
}

/**
 * A client that names no version is older than 1.0; the default is the last release before it, which most UIs use.
 * Clients of older releases ask for `0.0.55` by `?dialect=` or header.
 */
function dialectOf(input: RunAgentInput): ClientDialect {
  return input.protocolVersion === undefined ? "0.0.59" : "1.0";
}
