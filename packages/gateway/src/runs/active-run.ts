import { CountersignError, isCountersignError, LightSignal } from "@countersign/core";
import type { Signal } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import type { Principal } from "../access/access.js";
import type {
  Upstream,
  UpstreamConnection,
  UpstreamRequest,
  UpstreamStream,
} from "../agent/upstream.js";
import type { Run } from "../event/run.js";
import type { Finding } from "../inbound/finding.js";
import type { InboundRequest, RunOpening, ThreadReview } from "../inbound/request.js";
import { driveRun } from "../outbound/drive.js";
import type { RunHandle, Session } from "../sessions/sessions.js";
import type { OwnerClaim } from "../sessions/session-owners.js";
import { openConnection } from "./connection.js";
import type { Connection, ConnectionFacts } from "./connection.js";
import type { GatewayContext } from "./gateway-context.js";
import { OpenRunHandle } from "./open-run-handle.js";
import { codeOf } from "./run-observer.js";
import { noteRefusal, runFacts, RunWatch } from "./run-watch.js";
import type { AdmissionRequest } from "../inbound/thread-admission.js";
import type { ThreadLease } from "../inbound/thread-lease.js";
import "../base/errors.js";

/** The facts of a run that are known before its request is read. */
export type RunOrigin = ConnectionFacts & {
  /** Claims the session for the principal; sent to the ledger together with the claim of the thread. */
  readonly sessionClaim?: OwnerClaim | undefined;
  /** The open grant of the run; closed when the run is over. */
  readonly granted?: { close(): void };
  /** The scope of threads without a principal: the session, if the client named one. */
  readonly threadScope: string;
  /** The client's trace header. */
  readonly traceparent?: string | undefined;
  /** The client's own `Authorization`, only for agents that are configured to get it. */
  readonly authorization?: string | undefined;
  /** Aborts when the client disconnects, also before the agent has responded. */
  readonly gone: Signal;
  /** Called as soon as the run can be stopped, before the agent has responded. */
  onStarting?(handle: RunHandle): void;
};

/**
 * One run from its request to its end. It owns what the run must give back: the place in the session, the lock of the
 * thread, reserved quota, the connection to the agent. It lives as long as the stream, so it holds no reference to the
 * request.
 */
export class ActiveRun implements RunOpening {
  readonly connection: Connection;
  /** Aborts the connection to the agent; carries the reason of a stop. */
  readonly stopped = new LightSignal();
  /** Closes the connection to the agent. */
  readonly cancel = (): void => this.stopped.abort();
  readonly #context: GatewayContext;
  readonly #agent: string;
  readonly #sessionId: string;
  readonly #principal: Principal;
  readonly #threadScope: string;
  readonly #suggestions: AdmissionRequest["suggestions"];
  readonly #transport: RunHandle["transport"];
  readonly #traceparent: string | undefined;
  readonly #gone: Signal;
  readonly #granted: { close(): void } | undefined;
  readonly #sessionClaim: OwnerClaim | undefined;
  /** Dropped after their calls: they refer to the request. */
  #onStarting: ((handle: RunHandle) => void) | undefined;
  #connect: ((request: UpstreamRequest) => UpstreamConnection) | undefined;
  #agentConnection: UpstreamConnection | undefined;
  #handle: OpenRunHandle | undefined;
  #thread: ThreadLease | undefined;
  #watch: RunWatch | undefined;
  /** The run that is driven; nothing was delivered before it is set. */
  #driven: Run | undefined;
  #wasSent = false;

  constructor(context: GatewayContext, origin: RunOrigin) {
    this.#context = context;
    this.connection = openConnection(context, origin);
    this.#agent = origin.upstream.target.name;
    this.#sessionId = origin.sessionId;
    this.#principal = origin.principal;
    this.#threadScope = origin.threadScope;
    const { isSuggestion, target } = origin.upstream;
    this.#suggestions = isSuggestion === true ? "another thread" : target.runtime && "this thread";
    this.#transport = origin.transport;
    this.#traceparent = origin.traceparent;
    this.#gone = origin.gone;
    this.#granted = origin.granted;
    this.#sessionClaim = origin.sessionClaim;
    this.#onStarting = (handle) => origin.onStarting?.(handle);
    const { upstream, authorization } = origin;
    this.#connect = (request) => connectTo(upstream, { ...request, authorization });
    if (this.#gone.aborted) this.cancel();
    this.#gone.addEventListener("abort", this.cancel, { once: true });
  }

  /** The handle of the run; it exists once the request was parsed. */
  get handle(): OpenRunHandle {
    if (this.#handle === undefined) throw new TypeError("the run is not in its session yet");
    return this.#handle;
  }

  /** The thread of the run; it exists once the request was reviewed. */
  get thread(): ThreadLease {
    if (this.#thread === undefined) throw new TypeError("the thread was not opened yet");
    return this.#thread;
  }

  enter(input: RunAgentInput): void {
    const { session } = this.connection;
    assertNewRun(session, input);
    this.#handle = new OpenRunHandle(
      {
        runId: input.runId,
        threadId: input.threadId,
        agent: this.#agent,
        principal: this.#principal.id,
        client: this.connection.client,
        transport: this.#transport,
        startedAt: this.#context.clock.now(),
      },
      this.stopped,
    );
    this.#context.sessions.addRun(this.#sessionId, this.#handle);
    this.#onStarting?.(this.#handle);
    this.#onStarting = undefined;
  }

  async review(input: RunAgentInput): Promise<ThreadReview> {
    this.#thread = await this.#context.threadAdmission.open({
      agent: this.#agent,
      threadScope: this.#threadScope,
      principal: this.#principal,
      sessionClaim: this.#sessionClaim,
      input,
      policy: this.connection.policy,
      suggestions: this.#suggestions,
    });
    return this.#thread;
  }

  claim(): Promise<Finding | undefined> {
    return this.thread.claim();
  }

  connect(body: string): void {
    const { hash } = this.connection.policy;
    this.#watch = new RunWatch(this.#context, this.handle, {
      session: this.#sessionId,
      policyHash: hash,
      traceparent: this.#traceparent,
    });
    this.#agentConnection = this.#connect?.({
      body,
      sessionId: this.#sessionId,
      signal: this.stopped,
      traceparent: this.#watch.traceparent,
      run: {
        threadId: this.handle.threadId,
        runId: this.handle.runId,
        isClientGone: () => this.#gone.aborted,
      },
    });
    this.#connect = undefined;
  }

  /** Sends the admitted request to the agent. */
  async send(): Promise<UpstreamStream> {
    this.#assertNotStopped();
    // The agent may have been contained during the admission. From here on a stop finds the run in its session.
    this.#context.containment.assertNotContained(this.#agent);
    const connection = this.#agentConnection;
    if (connection === undefined) throw new TypeError("the request was not admitted yet");
    this.#agentConnection = undefined;
    this.#wasSent = true;
    try {
      return await connection.send();
    } catch (error) {
      this.#assertNotStopped();
      this.#wasSent = !wasNotReceived(error);
      throw error;
    }
  }

  /** Runs the stream through the pipeline to its end, then gives everything back. */
  drive(run: Run, stream: UpstreamStream): Promise<void> {
    this.#driven = run;
    this.#watch?.opened(run);
    this.#context.heartbeats.add(run.sink);
    return driveRun(run, stream, this.stopped).finally(() => this.dispose());
  }

  /** Records why the request was refused, and gives everything back. */
  async refuse(request: InboundRequest | undefined, error: unknown): Promise<void> {
    this.cancel();
    const { threadId, runId } = request?.input ?? {};
    noteRefusal(this.#context, error, {
      agent: this.#agent,
      ...this.connection.client,
      session: this.#sessionId,
      ...(threadId === undefined ? {} : { thread: threadId }),
      ...(runId === undefined ? {} : { run: runId }),
    });
    await this.dispose();
    if (request !== undefined) await this.#context.refusals.record(request, error);
  }

  /** Gives back everything that the run holds, whether its stream opened or not. The caller of a refused request closes its grant. */
  async dispose(): Promise<void> {
    this.#gone.removeEventListener("abort", this.cancel);
    const run = this.#driven;
    if (run === undefined) return this.#withdraw();
    try {
      this.#context.heartbeats.remove(run.sink);
      this.handle.end(this.stopped.aborted ? "stopped" : "finished", this.#context.clock.now());
      this.#watch?.ended();
      this.#returnQuota();
      const isWhole = !this.#gone.aborted && run.sink.isDisconnected !== true;
      await this.thread.end(isWhole).catch((error: unknown) => this.#logUnsaved(error));
    } finally {
      this.#granted?.close();
    }
  }

  /** Nothing was delivered, so the session does not show the run. */
  async #withdraw(): Promise<void> {
    const { sessions } = this.#context;
    this.#agentConnection?.close();
    this.#returnQuota();
    if (this.#handle !== undefined) sessions.removeRun(this.#sessionId, this.#handle);
    sessions.forgetEmpty(this.#sessionId);
    await this.#thread?.abandon(this.#wasSent).catch(() => undefined);
  }

  #returnQuota(): void {
    this.connection.capabilities.settle();
    this.connection.caps?.end();
  }

  #logUnsaved(error: unknown): void {
    const facts = { ...runFacts(this.#sessionId, this.handle), cause: codeOf(error) };
    this.#context.journal.warn(facts, "the thread could not be stored");
  }

  #assertNotStopped(): void {
    if (this.stopped.aborted) {
      throw new CountersignError("ERR_RUN_STOPPED", "the run was stopped before it started", {});
    }
  }
}

/** Opens the connection early where the transport can; elsewhere only when the request is sent. */
function connectTo(upstream: Upstream, request: UpstreamRequest): UpstreamConnection {
  return upstream.connect?.(request) ?? { send: () => upstream.open(request), close: () => {} };
}

/** True when the agent was unreachable or rejected the request: the client may send it again, changed or not. */
function wasNotReceived(error: unknown): boolean {
  return (
    isCountersignError(error, "ERR_UPSTREAM_UNREACHABLE") ||
    isCountersignError(error, "ERR_UPSTREAM_STATUS")
  );
}

/** Rejects the id of a run that is open in the session, on any thread: a stop could not tell the two apart. */
export function assertNewRun(session: Session, { runId }: RunAgentInput): void {
  if (session.runs.get(runId)?.status === "running") {
    throw new CountersignError("ERR_RUN_ID_REUSED", "the session has an open run with this id", {});
  }
}
