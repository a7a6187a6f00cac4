import { CountersignError, isCountersignError } from "@countersign/core";
import { ClientState } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import { ANONYMOUS } from "../access/principal.js";
import type { Principal } from "../access/principal.js";
import type { SessionRequest } from "../sessions/session-owners.js";
import type { ClientSink, ReceiptTransport } from "../event/sink.js";
import { admitRequest } from "../inbound/admit.js";
import { earlierActivities, unsentMessages } from "../thread/held-thread.js";
import { heldState } from "../thread/shared-state.js";
import { isWithheldMessage } from "../outbound/withhold/messages.js";
import { bindQuarantine } from "../outbound/decide/quarantine.js";
import { bindApprovals } from "../inbound/approval.js";
import { assertInput } from "../inbound/request.js";
import type { InboundRequest } from "../inbound/request.js";
import { subagentsOf } from "../outbound/order/subagents.js";
import { Backlog } from "../event/backlog.js";
import { Hold } from "../event/hold.js";
import { driveRun } from "../outbound/drive.js";
import type { RunLimits } from "../event/run-limits.js";
import type { ClientDialect, Run } from "../event/run.js";
import type { RunHandle } from "../sessions/session.js";
import { ReceiptChain, showsHashedForm } from "../outbound/record/receipt-chain.js";
import type { ReceiptRequest } from "../outbound/record/receipt-chain.js";
import { LightSignal } from "../base/signal.js";
import type { Signal } from "../base/signal.js";
import { countObserved } from "../telemetry/count-event.js";
import { noteRefusal, RunWatch } from "./run-watch.js";
import type { Upstream, UpstreamStream } from "../agent/upstream.js";
import type { RunCapabilities } from "./capabilities.js";
import { openConnection } from "./connection.js";
import "../inbound/errors.js";
import { assertTakingRuns } from "./drain.js";
import { assertNewRun } from "./new-run.js";
import { OpenRunHandle } from "./open-run-handle.js";
import { codeOf, RunObserver } from "./run-observer.js";
import type { GatewayContext } from "./gateway-context.js";
import type { ThreadLease } from "./thread-lease.js";

/** A listener's request to start a run. */
export type RunRequest = {
  readonly upstream: Upstream;
  readonly bytes: Uint8Array | string;
  readonly sessionId: string;
  readonly principal: Principal;
  /** The query about the session's owner, sent to the ledger together with the thread's. */
  readonly owning?: SessionRequest | undefined;
  /** Closed when the run is over. */
  readonly lease?: { close(): void };
  /** The client's own `Authorization`, only for agents that are configured to get it. */
  readonly authorization?: string | undefined;
  /** The owner of the threads; the session, unless it was generated for this one request. */
  readonly threadOwner?: string;
  /** One per request or socket: `max_events_per_second` counts per connection. */
  readonly connectionId: string;
  readonly transport: ReceiptTransport;
  /** The dialect that the client asked for. */
  readonly clientDialect?: ClientDialect | undefined;
  /** Set when the client asks for the receipts of delivered events. */
  readonly receipts?: ReceiptRequest | undefined;
  /** The client's trace header. */
  readonly traceparent?: string | undefined;
  /** Aborts when the client disconnects, also before the agent has responded. */
  readonly gone: Signal;
  /** Called as soon as the run can be stopped, before the agent has responded. */
  onStarting?(handle: RunHandle): void;
  /**
   * Opens the client's stream once the agent has responded; nothing was sent to the client before.
   */
  openSink(context: { runId: string; threadId: string }): ClientSink;
};

/** A run in progress. */
export type StartedRun = {
  readonly handle: RunHandle;
  readonly done: Promise<void>;
  /**
   * Sends a judged message of the client to an agent on a WebSocket; false when it was not sent.
   */
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
export async function startRun(
  gatewayContext: GatewayContext,
  request: RunRequest,
): Promise<StartedRun> {
  const { upstream, sessionId, owning, gone } = request;
  const agent = upstream.target.name;
  const stop = new LightSignal();
  const leave = aborterOf(stop);
  const { session, policy, capabilities, judge, caps, inbound } = openConnection(
    gatewayContext,
    request,
  );
  let handle: OpenRunHandle | undefined;
  let inboundRequest: InboundRequest | undefined;
  let threadLease: ThreadLease | undefined;
  let wasSent = false;
  const { principal } = request;
  const scope = request.threadOwner ?? sessionId;
  const enter = (input: RunAgentInput): void => {
    assertNewRun(session, input);
    const { runId, threadId } = input;
    const { transport } = request;
    const startedAt = gatewayContext.clock.now();
    handle = new OpenRunHandle(
      { runId, threadId, agent, principal: principal.id, transport, startedAt },
      stop,
    );
    gatewayContext.sessions.addRun(sessionId, handle);
    request.onStarting?.(handle);
  };

  try {
    assertTakingRuns(gatewayContext.drain);
    if (gone.aborted) leave();
    gone.addEventListener("abort", leave, { once: true });
    inboundRequest = inbound("input", request.bytes, {
      assertNewRun: enter,
      review: async (input) => {
        threadLease = await gatewayContext.threadAdmission.open({
          agent,
          scope,
          principal,
          owning,
          input,
          policy,
        });
        if (inboundRequest !== undefined) inboundRequest.writtenKeys = threadLease.writtenKeys;
        return threadLease.findings;
      },
      claim: async () => threadLease?.claim(),
    });
    await admitRequest(inboundRequest);
    countObserved(gatewayContext.telemetry, inboundRequest);
    if (inboundRequest.isStripped === true) gatewayContext.telemetry.stripped.add(agent);
    const input = assertInput(inboundRequest);
    const entered = handle as unknown as OpenRunHandle;
    const followed = threadLease as unknown as ThreadLease;
    await followed.accept(inboundRequest.policyRemark);
    assertGoingOn(stop);
    const watch = new RunWatch(gatewayContext, entered, policy.hash, request.traceparent);
    wasSent = true;
    const stream = await upstream
      .open({
        body: inboundRequest.body ?? "",
        sessionId,
        signal: stop,
        authorization: request.authorization,
        traceparent: watch.traceparent,
      })
      .catch((error: unknown) => {
        assertGoingOn(stop);
        wasSent = !isUnheard(error);
        throw error;
      });
    const token = stream.headers[CAPABILITY_HEADER];
    if (typeof token === "string") {
      capabilities.add(token);
      await capabilities.reserve(undefined, 1, true);
    }

    const sink = request.openSink({ runId: input.runId, threadId: input.threadId });
    const clientDialect = request.clientDialect ?? dialectOf(input);
    const observer = new RunObserver(gatewayContext, session, entered);
    const owner = ownerOf(principal, scope);
    const { withheld } = gatewayContext.threads.open(agent, input.threadId, owner);
    followed.withhold(withheld, owner);
    const bound = bindApprovals(policy, judge, followed.approvals, followed.state);
    const earlier = followed.earlier();
    const run: Run = {
      agent,
      agentDialect: upstream.target.dialect,
      agentProfile: upstream.target.profile ?? "auto",
      agentEndsStream: stream.endsByItself,
      clientDialect,
      agentReadsInput: upstream.target.transport !== "get-sse",
      sessionId,
      threadId: input.threadId,
      runId: input.runId,
      input,
      isSubagentOfThread: subagentsOf(input.messages, followed.state.messages),
      earlier,
      client: new ClientState(
        heldState(input.state, followed.state.shared),
        input.messages,
        policy.refinements.lists === "parts"
          ? {
              sent: input.messages,
              unsent: unsentMessages(followed.state, earlier),
              isWithheld: (message) => isWithheldMessage(message, withheld),
            }
          : undefined,
        earlierActivities(earlier),
        // A client that opened its stream without an input may have had a state before.
        upstream.target.transport === "get-sse" || clientDialect === "as-sent",
      ),
      policy: bound.policy,
      judge: bindQuarantine(
        policy,
        bound.judge,
        () => followed.deniedCalls(owner),
        gatewayContext.clock,
      ),
      beforeDelivery: followed.follow(clientDialect),
      counters: entered.counters,
      recorder: gatewayContext.recorder,
      receipts: receiptsFor(gatewayContext, clientDialect, request.receipts),
      backlog: new Backlog(),
      progress: { isOver: false, isComplete: false, events: 0 },
      withheld,
      sink,
      observer,
      limits: gatewayContext.limits,
      runLimits: runLimitsOf(gatewayContext, upstream),
      clock: gatewayContext.clock,
      mintId: gatewayContext.mintId,
      reserve: reserverOf(capabilities),
      caps,
      hold: new Hold(),
      cancel: leave,
    };
    observer.watch(run);
    const { lease } = request;
    const open = {
      gone,
      leave,
      lease,
      handle: entered,
      threadLease: followed,
      watch,
      capabilities,
    };
    return {
      handle: entered,
      done: runStream(gatewayContext, run, stream, open, stop),
      send: stream.send,
      threadLease: followed,
    };
  } catch (error) {
    gone.removeEventListener("abort", leave);
    leave();
    noteRefusal(gatewayContext, error, agent);
    capabilities.settle();
    caps?.end();
    // Nothing was delivered, so the session does not show the run.
    if (handle !== undefined) gatewayContext.sessions.removeRun(sessionId, handle);
    gatewayContext.sessions.forgetEmpty(sessionId);
    await (threadLease as ThreadLease | undefined)?.abandon(wasSent).catch(() => undefined);
    if (inboundRequest !== undefined) await gatewayContext.refusals.record(inboundRequest, error);
    throw error;
  }
}

/** The parts of an open run. */
type OpenRun = {
  readonly gone: Signal;
  readonly leave: () => void;
  readonly lease: { close(): void } | undefined;
  readonly handle: OpenRunHandle;
  readonly threadLease: ThreadLease;
  readonly watch: RunWatch;
  readonly capabilities: RunCapabilities;
};

/**
 * Runs the stream to its end and saves the thread. A separate function, because its scope lives as
 * long as the stream, and the request's must not.
 */
function runStream(
  gatewayContext: GatewayContext,
  run: Run,
  stream: UpstreamStream,
  { gone, leave, lease, handle, threadLease, watch, capabilities }: OpenRun,
  stopped: Signal,
): Promise<void> {
  const { sink } = run;
  watch.opened(run);
  gatewayContext.heartbeats.add(sink);
  return driveRun(run, stream, stopped).finally(async () => {
    try {
      gatewayContext.heartbeats.remove(sink);
      gone.removeEventListener("abort", leave);
      handle.end(stopped.aborted ? "stopped" : "finished", gatewayContext.clock.now());
      watch.ended();
      capabilities.settle();
      run.caps?.end();
      await threadLease.end(!gone.aborted && sink.isAway !== true).catch((error: unknown) => {
        const { agent, runId } = handle;
        const facts = { agent, run: runId, cause: codeOf(error) };
        gatewayContext.journal.warn(facts, "the thread was not put away");
      });
    } finally {
      lease?.close();
    }
  });
}

/** An agent that may be silent for longer may also go without an event for as long. */
function runLimitsOf({ runLimits }: GatewayContext, { target }: Upstream): RunLimits {
  const runSilenceMs = Math.max(runLimits.runSilenceMs, target.idleTimeoutMs);
  const { runMs, runEvents, runBytes, encryptedBytes } = runLimits;
  return { runMs, runSilenceMs, runEvents, runBytes, encryptedBytes };
}

/** Created here, so that the closure holds the controller and nothing of the request. */
function aborterOf(stop: LightSignal): () => void {
  return () => stop.abort();
}

/**
 * Created here for the same reason: a closure of `startRun` would keep the request's bytes in
 * memory for the whole run.
 */
function reserverOf(capabilities: RunCapabilities): NonNullable<Run["reserve"]> {
  return (presented, events) => capabilities.reserve(presented, events);
}

/**
 * True when the agent was unreachable or rejected the request: the client may send it again,
 * changed or not.
 */
function isUnheard(error: unknown): boolean {
  return (
    isCountersignError(error, "ERR_UPSTREAM_UNREACHABLE") ||
    isCountersignError(error, "ERR_UPSTREAM_STATUS")
  );
}

function assertGoingOn(stopped: Signal): void {
  if (stopped.aborted) {
    throw new CountersignError("ERR_RUN_STOPPED", "the run was stopped before it began", {});
  }
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

/** With access control, withheld content follows the principal; without it, the session. */
function ownerOf({ id }: Principal, scope: string): string {
  return id === ANONYMOUS.id ? scope : `principal ${id}`;
}

/**
 * A client that names no version is older than 1.0, and does not get events that would break it.
 * The default is the last release before 1.0, which most UIs use. Older releases send the same
 * requests, so their clients ask for `0.0.55` by `?dialect=` or header.
 */
function dialectOf(input: RunAgentInput): ClientDialect {
  return input.protocolVersion === undefined ? "0.0.59" : "1.0";
}
