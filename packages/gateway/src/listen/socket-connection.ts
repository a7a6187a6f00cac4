import { CountersignError, isCountersignError, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { decodeTextFrame } from "@countersign/wire/websocket";
import type { WebSocket } from "ws";
import { ANONYMOUS } from "../access/principal.js";
import { problemOf } from "../clients/refusal.js";
import { createSocketSink } from "../clients/socket-sink.js";
import { failureOf } from "../deliver/run-error.js";
import type { Failure } from "../deliver/run-error.js";
import { admitRequest } from "../inbound/admit.js";
import type { ClientDialect } from "../pipeline/run.js";
import { openConnection } from "../runs/connection.js";
import { startRun } from "../runs/start-run.js";
import type { StartedRun } from "../runs/start-run.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { RunHandle } from "../sessions/session.js";
import type { Upstream } from "../upstream/upstream.js";
import { createMessageQueue } from "./message-queue.js";

/** Close codes: done, input that cannot be read, a policy's no. */
const CLOSE = { done: 1000, unreadable: 1003, policy: 1008 } as const;

/** What a socket was opened for. */
export type SocketFacts = {
  readonly upstream: Upstream;
  readonly sessionId: string;
  readonly clientDialect: ClientDialect | undefined;
  /** Whether opening the socket asks for the session's stream; elsewhere every run has its own input. */
  readonly isSessionStream: boolean;
};

/** Serves one socket: several runs one after the other, messages in between, and a stop. */
export function serveSocket(around: Surroundings, socket: WebSocket, facts: SocketFacts): void {
  const { upstream, sessionId } = facts;
  const connectionId = around.mintId("run");
  const leaving = new AbortController();
  const gone = leaving.signal;
  let handle: RunHandle | undefined;
  let started: StartedRun | undefined;
  let busy = false;

  const start = async (text: string, isOwn: boolean): Promise<void> => {
    if (busy) {
      refuse(socket, RUN_ACTIVE, CLOSE.policy);
      return;
    }
    busy = true;
    try {
      started = await startRun(around, {
        upstream,
        bytes: text,
        principal: ANONYMOUS,
        sessionId,
        connectionId,
        transport: "websocket",
        clientDialect: facts.clientDialect ?? (isOwn ? undefined : "as-sent"),
        gone,
        onStarting: (entered) => {
          handle = entered;
        },
        openSink: () => createSocketSink(socket, gone),
      });
      await started.done;
      // A stream that the socket itself asked for is all there was to it.
      if (!isOwn) socket.close(CLOSE.done);
    } catch (error) {
      answerRefusal(socket, error);
    } finally {
      busy = false;
      handle = undefined;
      started = undefined;
    }
  };

  /** A browser's envelope: judged and signed for like everything else, then sent up. */
  const pass = async (text: string): Promise<void> => {
    const connection = openConnection(around, {
      upstream,
      sessionId,
      connectionId,
      transport: "websocket",
    });
    const request = connection.inbound("message", text);
    try {
      await admitRequest(request);
      connection.session.counters.forwarded += 1;
      started?.send?.(request.body ?? "");
    } catch (error) {
      connection.session.counters.blocked += 1;
      const { decision } = request;
      const isQuiet =
        isCountersignError(error, "ERR_INBOUND_BLOCKED") &&
        decision?.allow === false &&
        decision.onBlock !== "end";
      if (!isQuiet) answerRefusal(socket, error);
    }
  };

  // One after the other: the agent gets them in the order they were sent.
  const enqueue = createMessageQueue(
    {
      handle: async (text) => {
        try {
          await pass(text);
        } catch (error) {
          answerRefusal(socket, error);
        }
      },
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    },
    gone,
  );

  const receive = (data: { toString(): string }, isBinary: boolean): void => {
    // Between our goodbye and the client's there is nothing more to say.
    if (socket.readyState !== socket.OPEN) return;
    if (isBinary) return refuse(socket, BINARY, CLOSE.unreadable);
    let text: string;
    let value: JsonValue;
    try {
      text = decodeTextFrame(data.toString())[0] ?? "";
      value = parseJson(text, { maxDepth: around.limits.maxDepth });
    } catch (error) {
      return answerRefusal(socket, error);
    }
    if (isStop(value)) return handle?.stop("stop was asked for");
    if (!looksLikeMessage(value)) return void start(text, true);
    return enqueue(text);
  };

  socket.on("error", () => socket.terminate());
  socket.on("close", () => leaving.abort());
  socket.on("message", receive);
  // Agents that only stream need no input: the session itself asks for the stream.
  const { dialect, transport } = upstream.target;
  if (facts.isSessionStream && (dialect === "chio" || transport === "get-sse")) {
    const input = { threadId: sessionId, runId: around.mintId("run"), protocolVersion: "1.0" };
    void start(JSON.stringify({ ...input, messages: [] }), false);
  }
}

const RUN_ACTIVE: Failure = {
  code: "ERR_RUN_ACTIVE",
  message: "a run is still going on this socket",
};
const BINARY: Failure = { code: "FRAME_BINARY", message: "text frames only" };

/** A stop is `{"type":"STOP"}`, in any case: the button that the first protocol document asked for. */
function isStop(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const { type } = value as { type?: JsonValue };
  return typeof type === "string" && type.toUpperCase() === "STOP";
}

/** Part of an envelope, which names what it does; an input names a thread or has messages. */
function looksLikeMessage(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const has = (name: string): boolean => Object.hasOwn(value, name);
  return (
    ["event_type", "payload", "classification", "event_id"].some(has) &&
    !["type", "messages", "threadId", "thread_id", "message"].some(has)
  );
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An agent or a store that is down ends this run only; a bad request or a policy's no ends the socket. */
function answerRefusal(socket: WebSocket, error: unknown): void {
  const { code, title, status } = problemOf(error);
  const isAgents = error instanceof CountersignError && error.code.startsWith("ERR_UPSTREAM_");
  const failure = isAgents ? failureOf(error) : { code, message: title };
  if (status >= 500 || isCountersignError(error, "ERR_RUN_STOPPED")) tell(socket, failure);
  else refuse(socket, failure, status === 403 || status === 409 ? CLOSE.policy : CLOSE.unreadable);
}

function tell(socket: WebSocket, { code, message }: Failure): void {
  if (socket.readyState === socket.OPEN) {
    socket.send(JSON.stringify({ type: "RUN_ERROR", message, code }));
  }
}

function refuse(socket: WebSocket, failure: Failure, close: number): void {
  tell(socket, failure);
  socket.close(close, failure.code);
}
