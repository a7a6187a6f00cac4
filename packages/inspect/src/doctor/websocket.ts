import type { Socket } from "node:net";
import {
  BEARER_SUBPROTOCOL,
  buildBearerSubprotocols,
  decodeTextFrame,
  textFrameStyle,
} from "@countersign/wire/websocket";
import { WebSocket } from "ws";
import { explainError } from "../check/explain.js";
import { connect } from "../probe/connect.js";
import { carriesIdToken } from "./input.js";
import type { Session } from "./session.js";
import { checkSetup } from "./timing.js";

/** Codes that report no failure: a normal end, going away, and none at all. */
const GOOD_CODES = new Set([1000, 1001, 1005]);
/** The close code of a connection that ends without a close frame (RFC 6455 section 7.1.5). */
const NO_CLOSE_FRAME = 1006;

/** Checks an endpoint over WebSocket: one input frame up, event frames down. */
export async function checkWebSocket(url: URL, session: Session): Promise<void> {
  const { options, phases, findings, timeoutMs } = session;
  const connected = await connect({
    url,
    findings,
    phases,
    timeoutMs,
    alpn: ["http/1.1"],
    insecure: options.insecure === true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  if (connected === undefined) return;
  session.network = connected.facts;
  session.reached = 2;
  checkSetup(phases.list, findings);
  const { headers, protocols } = credentials(session);
  const startMs = phases.now();
  const socket = new WebSocket(url, protocols, {
    headers,
    createConnection: () => connected.socket,
    handshakeTimeout: timeoutMs,
    perMessageDeflate: false,
    maxPayload: 64 * 1024 * 1024,
    followRedirects: false,
  });
  await new Conversation(session, socket, connected.socket, startMs).done;
}

/** One socket from the answer to its upgrade up to its end, told to the session. */
class Conversation {
  readonly done: Promise<void>;
  readonly #session: Session;
  readonly #socket: WebSocket;
  readonly #raw: Socket;
  readonly #startMs: number;
  #resolve: () => void = () => {};
  #isOpen = false;
  /** The check has ended; later socket events are our own. */
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: Session, socket: WebSocket, raw: Socket, startMs: number) {
    this.#session = session;
    this.#socket = socket;
    this.#raw = raw;
    this.#startMs = startMs;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    socket.on("unexpected-response", (_request, { statusCode }) => this.#refused(statusCode ?? 0));
    socket.on("error", ({ message }) => this.#failed(message));
    socket.on("open", () => this.#opened());
    socket.on("message", (data, isBinary) => this.#received(data as Buffer, isBinary));
    socket.on("close", (code) => this.#closed(code));
  }

  #refused(status: number): void {
    const { phases, findings } = this.#session;
    phases.add("upgrade", this.#startMs, `status ${status}`);
    this.#session.exchange = { method: "WS", status };
    const denied = status === 401 || status === 403;
    const idToken = denied && carriesIdToken(authorization(this.#session));
    findings.report(idToken ? "http/id-token" : denied ? "ws/auth" : "ws/upgrade", {
      detail: `status ${status}`,
    });
    this.#finish({ cut: true });
  }

  #failed(detail: string): void {
    if (this.#isOver) return;
    const { findings, events } = this.#session;
    if (this.#isOpen) findings.report("http/cut", { eventNumber: events, detail });
    else findings.report(/subprotocol/i.test(detail) ? "ws/subprotocol" : "ws/upgrade", { detail });
    this.#finish({ cut: true });
  }

  #opened(): void {
    const session = this.#session;
    this.#isOpen = true;
    session.reached = 3;
    session.phases.add("upgrade", this.#startMs, "101");
    const upgrade = this.#raw.bytesRead + this.#raw.bytesWritten;
    session.byteFacts = { ...session.byteFacts, spoken: "websocket", upgrade };
    session.exchange = { method: "WS", status: 101, encoding: "websocket" };
    if (this.#socket.protocol.startsWith(`${BEARER_SUBPROTOCOL}.`)) {
      session.findings.report("ws/subprotocol", { detail: "the token was selected" });
    }
    this.#timer = setTimeout(() => {
      const eventNumber = session.events;
      session.findings.report(eventNumber === 0 ? "http/no-events" : "http/stalled", {
        eventNumber,
      });
      this.#finish({ cut: true });
    }, session.timeoutMs);
    this.#socket.send(JSON.stringify(session.input));
  }

  #received(data: Buffer, isBinary: boolean): void {
    const session = this.#session;
    session.arrivals.bytes(session.phases.now());
    if (isBinary) session.check.skip("ws/binary", data.length, true);
    else takeFrame(data.toString("utf8"), session);
    if (session.finished) this.#finish({ cut: false });
  }

  #closed(code: number): void {
    if (this.#isOver) return;
    const session = this.#session;
    session.exchange = { ...session.exchange, method: "WS", closeCode: code };
    const good = GOOD_CODES.has(code);
    if (!good) {
      session.findings.report(code === NO_CLOSE_FRAME ? "http/cut" : "ws/close-code", {
        eventNumber: session.events,
        detail: `close ${code}`,
      });
    }
    this.#finish({ cut: !good });
  }

  /** Ends the check. A stream that the check itself cut is not reported as truncated. */
  #finish({ cut }: { cut: boolean }): void {
    const { check, findings, arrivals, phases } = this.#session;
    clearTimeout(this.#timer);
    if (this.#isOpen) {
      check.end();
      if (cut) findings.withdraw("run/truncated");
      arrivals.check(findings, this.#startMs);
      phases.add("stream", this.#startMs, `${this.#session.events} events`);
    }
    this.#isOver = true;
    this.#socket.terminate();
    this.#resolve();
  }
}

function takeFrame(text: string, session: Session): void {
  const style = textFrameStyle(text);
  if (style === "sse") session.findings.report("ws/sse-frames");
  session.exchange = { ...session.exchange, method: "WS", frameStyle: style };
  try {
    for (const json of decodeTextFrame(text)) session.check.text(json);
  } catch (error) {
    session.check.skip(explainError(error).rule, text.length, true);
  }
}

function authorization(session: Session): string | undefined {
  return Object.entries(session.options.headers ?? {}).find(
    ([name]) => name.toLowerCase() === "authorization",
  )?.[1];
}

function credentials(session: Session): { headers: Record<string, string>; protocols: string[] } {
  const headers = { ...session.options.headers };
  const token = /^Bearer\s+(\S+)$/i.exec(authorization(session) ?? "")?.[1];
  if (session.options.subprotocol !== true || token === undefined)
    return { headers, protocols: [] };
  for (const name of Object.keys(headers))
    if (name.toLowerCase() === "authorization") delete headers[name];
  return { headers, protocols: buildBearerSubprotocols(token) };
}
