import { compilePolicy, createPolicyHolder, loadPolicy, ClientState } from "@countersign/policy";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import type { ClientSink } from "../event/sink.js";
import { createGateway } from "../serve/gateway.js";
import type { GatewayOptions } from "../serve/gateway.js";
import type { EventContext } from "../event/event-context.js";
import type { ClientDialect, Run } from "../event/run.js";
import { Backlog, Pause } from "../event/waits.js";
import { driveRun } from "../outbound/drive.js";
import { subagentsOf } from "../outbound/order/subagents.js";
import { ANONYMOUS } from "../access/access.js";
import { earlierThread } from "../thread/earlier-thread.js";
import { stateOf } from "../thread/thread-state.js";
import { WithheldThreads } from "../inbound/thread-lease.js";
import { openConnection } from "../runs/connection.js";
import { createRunCounters } from "../event/run.js";
import type { Upstream, UpstreamPiece, UpstreamPieces } from "../agent/upstream.js";
import { createMemoryRecorder } from "./fixture.js";
import type { MemoryRecorder } from "./fixture.js";

/** Options of one run. */
export type InProcessOptions = Pick<
  Run,
  "beforeDelivery" | "delivered" | "approvals" | "isAppRequest"
> & {
  readonly agentDialect?: Run["agentDialect"];
  readonly agentProfile?: Run["agentProfile"];
  /** Called with notes about dropped or translated events. */
  readonly onNotes?: Run["observer"]["notes"];
  readonly clientDialect?: ClientDialect;
  /** Called for each delivered group, with the observer's arguments. */
  readonly onGroup?: (contexts: number, arrivedAt: number) => void;
  /** Called for each write to the client. */
  readonly onSend?: ClientSink["send"];
};

/** A gateway without sockets: pieces in, delivered events out. */
export type InProcess = {
  readonly recorder: MemoryRecorder;
  /** Executes one run and returns the delivered events, in order, with every decision. */
  run(
    input: RunAgentInput,
    pieces: Iterable<UpstreamPiece>,
    options?: InProcessOptions,
  ): Promise<{ delivered: AgUiEvent[]; contexts: EventContext[]; failures: string[] }>;
  close(): Promise<void>;
};

/** Creates one under a policy. */
export function createInProcess(policy: string, options: Partial<GatewayOptions> = {}): InProcess {
  const recorder = createMemoryRecorder();
  const withheld = new WithheldThreads();
  const gateway = createGateway({
    agents: [TARGET],
    policy: createPolicyHolder(compilePolicy(loadPolicy(policy))),
    recorder,
    ...options,
  });
  return {
    recorder,
    run: async (input, pieces, chosen = {}) => {
      const { clientDialect = "1.0", agentDialect = "auto", agentProfile = "auto" } = chosen;
      const {
        onGroup,
        onSend,
        onNotes = () => {},
        beforeDelivery,
        delivered: onDelivered,
        approvals,
        isAppRequest = false,
      } = chosen;
      const delivered: AgUiEvent[] = [];
      const contexts: EventContext[] = [];
      const upstream: Upstream = {
        target: TARGET,
        open: () => Promise.reject(new Error("not used")),
        close: () => {},
      };
      const context = gateway.context;
      const { policy: compiled, judge } = openConnection(context, {
        upstream,
        sessionId: "session-1",
        principal: ANONYMOUS,
        connectionId: "connection-1",
        transport: "sse",
      });
      const failures: string[] = [];
      const run: Run = {
        agent: TARGET.name,
        agentDialect,
        agentProfile,
        agentEndsStream: true,
        clientDialect,
        agentReadsInput: true,
        sessionId: "session-1",
        who: {},
        threadId: input.threadId,
        runId: input.runId,
        input,
        isSubagentOfThread: subagentsOf(input.messages),
        client: new ClientState(
          input.state ?? {},
          input.messages,
          { sent: input.messages },
          [],
          clientDialect === "as-sent",
        ),
        earlier: earlierThread(stateOf([]), [], true),
        policy: compiled,
        judge,
        counters: createRunCounters(),
        recorder,
        backlog: new Backlog(),
        progress: { isOver: false, isComplete: false, events: 0 },
        withheld: withheld.open(TARGET.name, input.threadId, ""),
        sink: createMemorySink(delivered, onSend),
        observer: {
          notes: onNotes,
          recorded: (eventContext) => void contexts.push(eventContext),
          ...(onGroup === undefined ? {} : { delivered: onGroup }),
          failed: (code) => void failures.push(code),
        },
        limits: context.limits,
        runLimits: context.runLimits,
        clock: context.clock,
        mintId: context.mintId,
        cancel: () => {},
        approvals,
        isAppRequest,
        pause: new Pause(),
        ...(beforeDelivery === undefined ? {} : { beforeDelivery }),
        ...(onDelivered === undefined ? {} : { delivered: onDelivered }),
      };
      const stream = { headers: {}, endsByItself: true, pieces: piecesOf(pieces) };
      await driveRun(run, stream, new AbortController().signal);
      return { delivered, contexts, failures };
    },
    close: () => gateway.close(),
  };
}

/** Pieces that arrive one after another, each in its own turn of the event loop. */
function piecesOf(pieces: Iterable<UpstreamPiece>): UpstreamPieces {
  const iterator = pieces[Symbol.iterator]();
  let isClosed = false;
  let hasCome = false;
  return {
    whenReady: (callback) =>
      void setImmediate(() => {
        hasCome = true;
        callback();
      }),
    take: () => {
      if (!hasCome) return "nothing yet";
      hasCome = false;
      const next = isClosed ? undefined : iterator.next();
      return next === undefined || next.done === true ? "over" : next.value;
    },
    close: () => {
      isClosed = true;
    },
  };
}

/** Events as text frames of a socket, one each. */
export function frames(events: readonly object[]): UpstreamPiece[] {
  return events.map((event) => ({ kind: "frame", text: JSON.stringify(event) }));
}

/** Events as one chunk of an SSE stream, as a socket delivers them at once. */
export function chunk(events: readonly object[]): UpstreamPiece {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return { kind: "sse", bytes: new TextEncoder().encode(text) };
}

function createMemorySink(
  delivered: AgUiEvent[],
  onSend: ClientSink["send"] = () => {},
): ClientSink {
  return {
    transport: "sse",
    isSlow: false,
    send: (events, texts) => {
      onSend(events, texts);
      delivered.push(...events);
    },
    drained: () => Promise.resolve(),
    heartbeat: () => {},
    end: () => {},
  };
}

const TARGET = {
  name: "support",
  url: new URL("http://agent.invalid/"),
  transport: "post-sse",
  headers: {},
  frames: "json",
  dialect: "auto",
  answerTimeoutMs: 1000,
  idleTimeoutMs: 1000,
} as const;
