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
import { judgeSetup } from "./timing.js";

/** Codes that report no failure: a normal end, going away, and none at all. */
const GOOD_CODES = new Set([1000, 1001, 1005]);

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
  judgeSetup(phases.list, findings);
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
  await new Promise<void>((done) => {
    let opened = false;
    let ours = false;
    let timer: NodeJS.Timeout | undefined;
    const finish = (cut: boolean): void => {
      clearTimeout(timer);
      if (opened) {
        session.check.end();
        if (cut) findings.withdraw("run/truncated");
        session.arrivals.judge(findings, startMs);
        phases.add("stream", startMs, `${session.events} events`);
      }
      ours = true;
      socket.terminate();
      done();
    };
    socket.on("unexpected-response", (_request, response) => {
      phases.add("upgrade", startMs, `status ${response.statusCode ?? 0}`);
      const status = response.statusCode ?? 0;
      session.exchange = { method: "WS", status };
      const denied = status === 401 || status === 403;
      const idToken = denied && carriesIdToken(authorization(session));
      findings.report(idToken ? "http/id-token" : denied ? "ws/auth" : "ws/upgrade", {
        detail: `status ${status}`,
      });
      finish(true);
    });
    socket.on("error", (error) => {
      if (ours) return;
      if (!opened) {
        const named = /subprotocol/i.test(error.message);
        findings.report(named ? "ws/subprotocol" : "ws/upgrade", { detail: error.message });
      } else findings.report("http/cut", { eventNumber: session.events, detail: error.message });
      finish(true);
    });
    socket.on("open", () => {
      opened = true;
      session.reached = 3;
      phases.add("upgrade", startMs, "101");
      const raw = connected.socket;
      session.byteFacts = {
        ...session.byteFacts,
        spoken: "websocket",
        upgrade: raw.bytesRead + raw.bytesWritten,
      };
      session.exchange = { method: "WS", status: 101, encoding: "websocket" };
      if (socket.protocol.startsWith(`${BEARER_SUBPROTOCOL}.`))
        findings.report("ws/subprotocol", { detail: "the token was selected" });
      timer = setTimeout(() => {
        findings.report(session.events === 0 ? "http/no-events" : "http/stalled", {
          eventNumber: session.events,
        });
        finish(true);
      }, timeoutMs);
      socket.send(JSON.stringify(session.input));
    });
    socket.on("message", (data, isBinary) => {
      session.arrivals.bytes(phases.now());
      if (isBinary) session.check.skip("ws/binary", (data as Buffer).length, true);
      else takeFrame((data as Buffer).toString("utf8"), session);
      if (session.finished) finish(false);
    });
    socket.on("close", (code) => {
      if (ours) return;
      session.exchange = { ...session.exchange, method: "WS", closeCode: code };
      const good = GOOD_CODES.has(code);
      if (!good) {
        const cut = code === 1006;
        findings.report(cut ? "http/cut" : "ws/close-code", {
          eventNumber: session.events,
          detail: `close ${code}`,
        });
      }
      finish(!good);
    });
  });
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
