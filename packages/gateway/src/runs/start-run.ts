import type { RunAgentInput } from "@countersign/wire";
import type { ClientSink, ReceiptTransport } from "../clients/sink.js";
import { feedItemOf } from "../control/feed-item.js";
import { createJudge } from "../decide/judge.js";
import { STOPPED } from "../deliver/run-error.js";
import { admitRequest } from "../inbound/admit.js";
import { assertInput } from "../inbound/request.js";
import type { InboundRequest } from "../inbound/request.js";
import { createBacklog } from "../pipeline/backlog.js";
import { driveRun } from "../pipeline/drive.js";
import type { ClientDialect, Run } from "../pipeline/run.js";
import { createRunCounters } from "../sessions/counters.js";
import type { RunHandle } from "../sessions/session.js";
import type { Upstream } from "../upstream/upstream.js";
import { createRunCapabilities } from "./capabilities.js";
import { assertNewRun } from "./new-run.js";
import type { Surroundings } from "./surroundings.js";

/** What a listener hands over to have a run started. */
export type RunRequest = {
  readonly upstream: Upstream;
  readonly bytes: Uint8Array | string;
  readonly sessionId: string;
  readonly transport: ReceiptTransport;
  /** Where the client said which dialect it reads. */
  readonly clientDialect?: ClientDialect | undefined;
  /** Opens the person's end once the agent has answered; nothing was sent to the person before. */
  openSink(context: { runId: string; threadId: string }): ClientSink;
};

/** A run that is under way. */
export type StartedRun = { readonly handle: RunHandle; readonly done: Promise<void> };

/** The header in which an agent's answer may bring a token. */
const CAPABILITY_HEADER = "countersign-capability";

/**
 * Admits a request, opens the agent's stream and carries it to the person.
 *
 * Throws while nothing has been sent: the listener answers that with an HTTP error or a close code.
 */
export async function startRun(around: Surroundings, request: RunRequest): Promise<StartedRun> {
  const { upstream, sessionId, transport } = request;
  const agent = upstream.target.name;
  const session = around.sessions.open(sessionId);
  const policy = around.policy();
  const capabilities = createRunCapabilities(session, agent, around.tokens);
  const judge = createJudge({
    policy,
    book: around.book(policy),
    keys: { session: sessionId, agent, connection: `${sessionId}\n${around.mintId("run")}` },
    capabilities,
    transport,
    clock: around.clock,
    session: { id: sessionId, agent },
  });
  const inbound: InboundRequest = {
    agent,
    sessionId,
    transport,
    receivedAt: around.clock.now(),
    policy,
    judge,
    recorder: around.recorder,
    limits: around.limits,
    clock: around.clock,
    mintId: around.mintId,
    bytes: request.bytes,
    assertNewRun: (input) => assertNewRun(session, input),
  };
  await admitRequest(inbound);
  const input = assertInput(inbound);

  const stop = new AbortController();
  const stream = await upstream.open({
    body: inbound.body ?? "",
    sessionId,
    signal: stop.signal,
  });
  const token = stream.headers[CAPABILITY_HEADER];
  if (typeof token === "string") capabilities.add(token);

  const sink = request.openSink({ runId: input.runId, threadId: input.threadId });
  const counters = createRunCounters();
  const handle: RunHandle = {
    runId: input.runId,
    threadId: input.threadId,
    agent,
    transport,
    startedAt: around.clock.now(),
    counters,
    status: "running",
    stop: (reason) => {
      handle.status = "stopped";
      stop.abort(new Error(reason));
    },
  };
  around.sessions.addRun(sessionId, handle);
  if (sink.gone.aborted) stop.abort();
  sink.gone.addEventListener("abort", () => stop.abort(), { once: true });

  const run: Run = {
    agent,
    agentDialect: upstream.target.dialect,
    clientDialect: request.clientDialect ?? dialectOf(input, upstream),
    agentReadsInput: upstream.target.transport !== "get-sse",
    sessionId,
    threadId: input.threadId,
    runId: input.runId,
    input,
    policy,
    judge,
    counters,
    recorder: around.recorder,
    backlog: createBacklog(),
    withheld: around.threads.open(agent, input.threadId).withheld,
    sink,
    observer: {
      notes: (notes) =>
        around.journal.info({ agent, run: input.runId, notes }, "dropped or translated"),
      recorded: (passage) => {
        const key = passage.decision?.allow === false ? "blocked" : "forwarded";
        session.counters[key] += 1;
        const item = feedItemOf(run, passage);
        if (item !== undefined) around.feed.publish(item);
      },
      failed: (code, cause) => {
        if (code === STOPPED.code) return;
        handle.status = "failed";
        around.journal.warn({ agent, run: input.runId, code, cause: codeOf(cause) }, "run failed");
      },
    },
    limits: around.limits,
    clock: around.clock,
    mintId: around.mintId,
    cancel: () => stop.abort(),
  };
  around.heartbeats.add(sink);
  const done = driveRun(run, stream, stop.signal).finally(() => {
    around.heartbeats.remove(sink);
    if (handle.status === "running") handle.status = "finished";
    handle.endedAt = around.clock.now();
  });
  return { handle, done };
}

/** A client that names no version is older than 1.0, and is spared what it would die on. */
function dialectOf(input: RunAgentInput, upstream: Upstream): ClientDialect {
  if (upstream.target.dialect === "chio") return "envelope";
  return input.protocolVersion === undefined ? "0.0.55" : "1.0";
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
}
