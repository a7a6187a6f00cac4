import { isCountersignError, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { decodeTextFrame } from "@countersign/wire/websocket";
import type { WebSocket } from "ws";
import type { Grant } from "../access/access.js";
import type { Door } from "../access/door.js";
import { createSocketSink } from "../clients/socket-sink.js";
import { ACCESS_EXPIRED } from "../deliver/run-error.js";
import type { Failure } from "../deliver/run-error.js";
import { admitRequest } from "../inbound/admit.js";
import type { ClientDialect } from "../pipeline/run.js";
import { openConnection } from "../runs/connection.js";
import type { StartedRun } from "../runs/start-run.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { RunHandle } from "../sessions/session.js";
import { LightSignal } from "../signal.js";
import { countObserved } from "../telemetry/count-passage.js";
import { noteRefusal } from "../telemetry/run-watch.js";
import type { Upstream } from "../upstream/upstream.js";
import { authorizationFor } from "./credentials.js";
import { startGrantedRun } from "./granted-run.js";
import { createMessageQueue } from "./message-queue.js";
import { createMessageRate } from "./message-rate.js";
import { tokenIn } from "./socket-greeting.js";
import type { SocketMessage } from "./socket-greeting.js";
import { answerRefusal, CLOSE, refuse } from "./socket-refusal.js";

/** What a socket was opened for. */
export type SocketFacts = {
  readonly upstream: Upstream;
  readonly sessionId: string;
  readonly clientDialect: ClientDialect | undefined;
  readonly traceparent: string | undefined;
  /** On what ground it is open, and the credential behind it. */
  readonly grant: Grant;
  readonly token: string | undefined;
  /** What the client sent in one breath with its credential. */
  readonly early: readonly SocketMessage[];
  /** Whether opening the socket asks for the session's stream; elsewhere every run has its own input. */
  readonly isSessionStream: boolean;
};

/** An open socket, for whoever looks after it. */
export type ServedSocket = { isBusy(): boolean };

/** Serves one socket: several runs one after the other, messages in between, and a stop. */
export function serveSocket(
  around: Surroundings,
  door: Door,
  socket: WebSocket,
  facts: SocketFacts,
): ServedSocket {
  const { upstream, sessionId } = facts;
  let { grant, token } = facts;
  // What is open asks the socket, not the first credential: a fresh one may take its place.
  const held: Grant = { principal: grant.principal, isValid: () => grant.isValid() };
  const isWithinRate = createMessageRate(door.limits.messagesPerSecond, around.clock);
  const connectionId = around.mintId("run");
  const gone = new LightSignal();
  let handle: RunHandle | undefined;
  let started: StartedRun | undefined;
  let busy = false;
  let isExpired = false;

  const start = async (text: string, isOwn: boolean): Promise<void> => {
    if (busy) {
      refuse(socket, RUN_ACTIVE, CLOSE.policy);
      return;
    }
    busy = true;
    try {
      started = await startGrantedRun(around, door, held, {
        upstream,
        bytes: text,
        authorization: authorizationFor(upstream, token),
        traceparent: facts.traceparent,
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
      answerRefusal(around, socket, error);
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
      countObserved(around.telemetry, request);
      connection.session.counters.forwarded += 1;
      started?.send?.(request.body ?? "");
    } catch (error) {
      connection.session.counters.blocked += 1;
      noteRefusal(around, error, upstream.target.name);
      const { decision } = request;
      const isQuiet =
        isCountersignError(error, "ERR_INBOUND_BLOCKED") &&
        decision?.allow === false &&
        decision.onBlock !== "end";
      if (!isQuiet) answerRefusal(around, socket, error);
    }
  };

  // One after the other: the agent gets them in the order they were sent.
  const enqueue = createMessageQueue(
    {
      handle: async (text) => {
        try {
          await pass(text);
        } catch (error) {
          answerRefusal(around, socket, error);
        }
      },
      waits: (change) => {
        around.telemetry.sockets.queued += change;
      },
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    },
    gone,
  );

  /** A fresh credential of the same holder: the socket goes on for as long as that one counts. */
  const renew = async (fresh: string): Promise<void> => {
    try {
      const renewed = await door.access.authenticate(fresh);
      if (renewed.principal.id !== held.principal.id) {
        refuse(socket, OTHER_PRINCIPAL, CLOSE.policy);
        return;
      }
      grant = renewed;
      token = fresh;
    } catch (error) {
      answerRefusal(around, socket, error);
    }
  };

  /** Lets the run tell its end first; its own lease stops it. */
  const expire = (): void => {
    if (isExpired) return;
    isExpired = true;
    const close = (): void => socket.close(CLOSE.unauthorized, ACCESS_EXPIRED.code);
    if (started === undefined) close();
    else started.done.then(close, close);
    setTimeout(() => socket.terminate(), EXPIRY_GRACE_MS).unref();
  };

  const receive = (data: { toString(): string }, isBinary: boolean): void => {
    // Between our goodbye and the client's there is nothing more to say.
    if (socket.readyState !== socket.OPEN) return;
    if (!isWithinRate()) return refuse(socket, TOO_FAST, CLOSE.policy);
    if (isBinary) return refuse(socket, BINARY, CLOSE.unreadable);
    let text: string;
    let value: JsonValue;
    try {
      text = decodeTextFrame(data.toString())[0] ?? "";
      const { maxDepth, maxInputValues: maxValues } = around.limits;
      value = parseJson(text, { maxDepth, maxValues });
    } catch (error) {
      return answerRefusal(around, socket, error);
    }
    const fresh = tokenIn(value);
    if (fresh !== undefined) return void renew(fresh);
    // The lease is looked at twice a second; nothing more is taken until then.
    if (isExpired || !held.isValid()) return expire();
    if (isStop(value)) return handle?.stop("stop was asked for");
    if (!looksLikeMessage(value)) return void start(text, true);
    return enqueue(text);
  };

  socket.on("error", () => socket.terminate());
  const lease = { grant: held, end: expire };
  door.leases.add(lease);
  socket.on("close", () => {
    door.leases.remove(lease);
    gone.abort();
  });
  socket.on("message", receive);
  // Agents that only stream need no input: the session itself asks for the stream.
  const { dialect, transport } = upstream.target;
  if (facts.isSessionStream && (dialect === "chio" || transport === "get-sse")) {
    const input = { threadId: sessionId, runId: around.mintId("run"), protocolVersion: "1.0" };
    void start(JSON.stringify({ ...input, messages: [] }), false);
  }
  for (const { data, isBinary } of facts.early) receive(data, isBinary);
  return { isBusy: () => busy };
}

/** Time for a client to answer our goodbye before it is cut. */
const EXPIRY_GRACE_MS = 2000;

const RUN_ACTIVE: Failure = {
  code: "ERR_RUN_ACTIVE",
  message: "a run is still going on this socket",
};
const TOO_FAST: Failure = { code: "GATEWAY_LIMIT", message: "too many messages a second" };
const OTHER_PRINCIPAL: Failure = {
  code: "ERR_ACCESS_SESSION",
  message: "a socket stays with who opened it",
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
