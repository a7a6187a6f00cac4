import { CountersignError, LightSignal } from "@countersign/core";
import type { WebSocket } from "ws";
import type { Grant } from "../../access/access.js";
import type { AccessControl } from "../access-control.js";
import { createSocketReader, createSocketSink } from "../socket-sink.js";
import { ACCESS_EXPIRED } from "../../outbound/deliver/run-error.js";
import { admitRequest } from "../../inbound/admit.js";
import { SECOND_RUN } from "../../inbound/finding.js";
import type { ClientDialect } from "../../event/run.js";
import type { ReceiptRequest } from "../../outbound/record/receipt-chain.js";
import { openConnection } from "../../runs/connection.js";
import type { ConnectionFacts } from "../../runs/connection.js";
import type { StartedRun } from "../../runs/start-run.js";
import type { RunOpening } from "../../inbound/request.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import { PATIENCE_MS } from "../../inbound/thread-admission.js";
import type { RunHandle } from "../../sessions/sessions.js";
import type { Upstream } from "../../agent/upstream.js";
import { authorizationFor } from "../credentials.js";
import { startGrantedRun } from "../granted-run.js";
import { createMessageQueue } from "./message-queue.js";
import { frameError, readFrame } from "./socket-frame.js";
import type { SocketFrame } from "./socket-frame.js";
import type { SocketMessage } from "./socket-greeting.js";
import { createMessagePath } from "./socket-messages.js";
import { sendRefusal, CLOSE } from "./socket-refusal.js";
import { recordUnreadRequest } from "../refuse.js";
import { problemOf } from "../problem.js";
import { findStream } from "../resume/resume-stream.js";
import type { FoundStream } from "../resume/resume-stream.js";
import { stopAnywhere } from "../stop-route.js";
import type { Clock } from "../../base/ports.js";
import { noteRefusal } from "../../runs/run-watch.js";
import type { RefusalFacts } from "../../runs/run-watch.js";

/** A second run on one socket: it is judged and recorded, and never opens. */
const SECOND: RunOpening = {
  enter: () => {},
  review: async () => ({ findings: [SECOND_RUN] }),
  claim: async () => undefined,
  connect: () => {},
};

/** The request that opened a socket. */
export type SocketFacts = {
  readonly upstream: Upstream;
  readonly sessionId: string;
  /** Whether the client chose the session id. */
  readonly isNamed: boolean;
  readonly clientAddress: string | undefined;
  /** The client in log lines, before it authenticated. */
  readonly client: RefusalFacts;
  readonly clientDialect: ClientDialect | undefined;
  /** Present if the client requests receipts. */
  readonly receipts?: ReceiptRequest | undefined;
  readonly traceparent: string | undefined;
  /** The grant under which it is open; `token` is its credential. */
  readonly grant: Grant;
  readonly token: string | undefined;
  /** Messages that arrived together with the credential. */
  readonly early: readonly SocketMessage[];
  /** Whether opening the socket requests the session's stream; otherwise every run has its own input. */
  readonly isSessionStream: boolean;
  /** Whether the client requests streams that it can resume. */
  readonly isResumable: boolean;
};

/** An open socket. */
export type ServedSocket = { isBusy(): boolean };

/** Serves one socket: several runs one after the other, messages in between, and a stop. */
export function serveSocket(
  context: GatewayContext,
  accessControl: AccessControl,
  socket: WebSocket,
  facts: SocketFacts,
): ServedSocket {
  const { upstream, sessionId } = facts;
  let { grant, token } = facts;
  // The check of open grants reads the socket, not the first credential: a renewed one may replace it.
  const held: Grant = { principal: grant.principal, isValid: () => grant.isValid() };
  const { messagesPerSecond } = accessControl.limits;
  const isWithinRate = createMessageRate(messagesPerSecond, context.clock);
  const connection: ConnectionFacts = {
    upstream,
    sessionId,
    principal: held.principal,
    clientAddress: facts.clientAddress,
    connectionId: context.mintId("run"),
    transport: "websocket",
  };
  const gone = new LightSignal();
  let handle: RunHandle | undefined;
  let started: StartedRun | undefined;
  let opening: Promise<void> = Promise.resolve();
  let busy = false;
  let resumed: FoundStream | undefined;
  let isExpired = false;
  /** An input that arrived after the end of a run whose agent has not closed its connection yet. */
  let next: { readonly text: string; readonly timer: NodeJS.Timeout } | undefined;
  /** A refusal that ends the socket is being recorded: further frames are ignored. */
  let isRefusing = false;

  const client: RefusalFacts = {
    ...facts.client,
    agent: upstream.target.name,
    ...context.identities.of(held.principal, facts.clientAddress),
    session: sessionId,
  };
  const reportRefusal = (error: unknown): void => sendRefusal(context, socket, error, client);

  const begin = async (text: string, isOwn: boolean): Promise<StartedRun> => {
    const holder = { principal: held.principal.id, agent: upstream.target.name, sessionId };
    const resumable = facts.isResumable
      ? accessControl.resumableStreams.create({ ...holder, grant: held }, gone, "websocket")
      : undefined;
    return startGrantedRun(context, accessControl, held, {
      ...connection,
      isNamed: facts.isNamed,
      bytes: text,
      authorization: authorizationFor(upstream, token),
      traceparent: facts.traceparent,
      hasNoInput: !isOwn,
      clientDialect: facts.clientDialect ?? (isOwn ? undefined : "as-sent"),
      receipts: facts.receipts,
      gone: resumable?.gone ?? gone,
      onStarting: (entered) => {
        handle = entered;
      },
      openSink: (run) => {
        if (resumable === undefined) return createSocketSink(socket, gone);
        const { reader, left } = createSocketReader(socket, gone, resumable.key);
        return resumable.open(reader, left, run);
      },
    });
  };

  // This function awaits, so it does not get the text: it would hold that for as long as the run lasts.
  const follow = async (run: Promise<StartedRun>, isOwn: boolean): Promise<void> => {
    try {
      const { done } = await run;
      await done;
      // A socket that was opened for the session's stream ends with it.
      if (!isOwn) socket.close(CLOSE.done);
    } catch (error) {
      reportRefusal(error);
    } finally {
      busy = false;
      handle = undefined;
      started = undefined;
      startNext();
    }
  };

  const start = (text: string, isOwn: boolean): void => {
    busy = true;
    const run = begin(text, isOwn);
    opening = run.then(
      (opened) => {
        started = opened;
      },
      () => {},
    );
    void follow(run, isOwn);
  };

  /** Resumes a stream on this socket, which then is as busy as with a run of its own. */
  const resume = async (id: string, isViewer: boolean): Promise<void> => {
    busy = true;
    try {
      const found = await findStream(accessControl, {
        lastEventId: id,
        agent: upstream.target.name,
        holder: { principal: held.principal.id },
        returnsForever: false,
        isViewer,
      });
      if (gone.aborted) return;
      resumed = found;
      const { reader, left, ended } = createSocketReader(socket, gone, found.key);
      context.telemetry.reconnects.taken += 1;
      found.attach(reader, left);
      if (found.own === undefined) context.heartbeats.add(reader);
      await ended;
      context.heartbeats.remove(reader);
    } catch (error) {
      // An error event would end the run for the client, which may try again.
      if (problemOf(error).status < 500) reportRefusal(error);
      else {
        noteRefusal(context, error, client);
        socket.close(CLOSE.tryAgain, problemOf(error).code);
      }
    } finally {
      busy = false;
      resumed = undefined;
      startNext();
    }
  };

  /** Stops the run of this socket, or the one that it resumed. */
  const stop = (): void => {
    handle?.stop("stop was asked for");
    if (resumed === undefined) return;
    const { sessionId: session, run } = resumed;
    const principal = held.principal.id;
    void stopAnywhere(context, { session, thread: run.threadId, run: run.runId, principal });
  };

  /** Limits the time that a client may take to complete the close. */
  const terminateSoon = (): void =>
    void setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();

  /** A refusal that ends the socket is signed before it is sent. */
  const refuseFrame = async (error: unknown): Promise<void> => {
    isRefusing = true;
    await recordUnreadRequest(context, connection, error);
    reportRefusal(error);
    isRefusing = false;
    if (socket.readyState !== socket.OPEN) terminateSoon();
  };

  const refuseSecond = async (text: string): Promise<void> => {
    isRefusing = true;
    const request = openConnection(context, connection).inbound("input", text, { opening: SECOND });
    try {
      await admitRequest(request);
    } catch (error) {
      await context.refusals.record(request, error);
      reportRefusal(error);
    }
    isRefusing = false;
  };

  /**
   * An agent may save its work before it hangs up. A client that saw the run finish need not wait for that, as over
   * HTTP.
   */
  const queueNext = (text: string): void => {
    const refuse = (): void => {
      next = undefined;
      void refuseSecond(text);
    };
    next = { text, timer: setTimeout(refuse, PATIENCE_MS).unref() };
  };

  const startNext = (): void => {
    if (next === undefined) return;
    const { text, timer } = next;
    clearTimeout(timer);
    next = undefined;
    if (socket.readyState === socket.OPEN && !isRefusing && !isExpired) start(text, true);
  };

  // One after the other: the agent gets them in the order they were sent.
  const enqueue = createMessageQueue(
    {
      handle: createMessagePath(context, connection, {
        settled: () => opening,
        run: () => started,
        isBusy: () => busy,
        isGone: () => gone.aborted,
        refuse: reportRefusal,
      }),
      waits: (change) => {
        context.telemetry.sockets.queued += change;
      },
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    },
    gone,
  );

  /** Accepts a renewed credential of the same principal: the socket stays open for as long as that one is valid. */
  const renew = async (fresh: string): Promise<void> => {
    try {
      const renewed = await accessControl.access.authenticate(fresh);
      if (renewed.principal.id !== held.principal.id) {
        throw new CountersignError(
          "ERR_ACCESS_SESSION",
          "a socket belongs to the principal that opened it",
          {},
        );
      }
      grant = renewed;
      token = fresh;
    } catch (error) {
      reportRefusal(error);
    }
  };

  /** Lets the run send its end first; its own grant stops it. */
  const expire = (): void => {
    if (isExpired) return;
    isExpired = true;
    const close = (): void => socket.close(CLOSE.unauthorized, ACCESS_EXPIRED.code);
    if (started === undefined) close();
    else started.done.then(close, close);
    terminateSoon();
  };

  /** Pings and pongs cost as much as frames, and no other limit covers them. */
  const countControl = (): void => {
    if (socket.readyState !== socket.OPEN || isRefusing || isWithinRate()) return;
    void refuseFrame(rateError(messagesPerSecond));
  };

  const receive = (message: SocketMessage): void => {
    // Between our close frame and the client's there is nothing more to handle.
    if (socket.readyState !== socket.OPEN || isRefusing) return;
    let frame: SocketFrame;
    try {
      if (!isWithinRate()) throw rateError(messagesPerSecond);
      frame = readFrame(message, context.limits);
    } catch (error) {
      return void refuseFrame(error);
    }
    if (frame.kind === "token") return void renew(frame.token);
    // Open grants are checked twice a second; no frame is accepted until then.
    if (isExpired || !held.isValid()) return expire();
    if (frame.kind === "stop") return stop();
    if (frame.kind === "resume") {
      if (!busy) return void resume(frame.id, frame.isViewer);
      return void refuseFrame(frameError("the socket has an open run", "resume"));
    }
    if (frame.kind === "message") return enqueue(frame.text);
    if (busy && next === undefined && started?.threadLease.isEnding === true)
      return queueNext(frame.text);
    if (busy) return void refuseSecond(frame.text);
    return start(frame.text, true);
  };

  socket.on("error", (error: NodeJS.ErrnoException) => {
    const { code = "" } = error;
    // The library has already closed with the close code of the protocol.
    if (code.startsWith("WS_ERR_")) {
      void refuseFrame(frameError("the frame breaks the protocol of sockets", code));
    }
    socket.terminate();
  });
  const open = { grant: held, end: expire };
  accessControl.openGrants.add(open);
  socket.on("close", () => {
    accessControl.openGrants.remove(open);
    gone.abort();
  });
  socket.on("message", (data, isBinary) => receive({ data, isBinary }));
  socket.on("ping", countControl);
  socket.on("pong", countControl);
  // Agents that only stream need no input: the session itself requests the stream.
  const { dialect, transport } = upstream.target;
  if (facts.isSessionStream && (dialect === "chio" || transport === "get-sse")) {
    const input = { threadId: sessionId, runId: context.mintId("run"), protocolVersion: "1.0" };
    start(JSON.stringify({ ...input, messages: [] }), false);
  }
  for (const message of facts.early) receive(message);
  return { isBusy: () => busy };
}

/** Time for a client to answer our close frame before the socket is terminated. */
const CLOSE_TIMEOUT_MS = 2000;

function rateError(perSecond: number): CountersignError {
  const message = `more than ${perSecond} frames a second`;
  return new CountersignError("ERR_SOCKET_RATE", message, { perSecond });
}

/** Returns whether a message is within the rate; a burst may have twice the rate. */
export function createMessageRate(perSecond: number, clock: Clock): () => boolean {
  let left = perSecond * 2;
  let at = clock.now();
  return () => {
    const now = clock.now();
    // A clock that jumps back adds and removes nothing.
    left = Math.min(perSecond * 2, left + (Math.max(0, now - at) * perSecond) / 1000);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
