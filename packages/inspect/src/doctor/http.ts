import { parseUrl } from "@countersign/core";
import { PROTO_MEDIA_TYPE } from "@countersign/wire/proto";
import { connect } from "../probe/connect.js";
import { exchange } from "../probe/exchange.js";
import type { ExchangeResponse } from "../probe/exchange.js";
import type { RuleId } from "../rules/table.js";
import { fetchCapabilities } from "./capabilities.js";
import { decompress, isProto, mediaType, protoReader, sseReader } from "./body.js";
import type { BodyReader } from "./body.js";
import { carriesIdToken } from "./input.js";
import { preflight } from "./preflight.js";
import type { Session } from "./session.js";
import { checkSetup } from "./timing.js";

const MAX_REDIRECTS = 3;
const EXCERPT = 300;
/** Answer headers worth showing; the rest may hold cookies and internal names. */
const SHOWN = [
  "content-type",
  "content-encoding",
  "cache-control",
  "connection",
  "transfer-encoding",
  "server",
  "via",
  "x-accel-buffering",
  "location",
  "www-authenticate",
  "retry-after",
];

/** Checks an endpoint over HTTP: POST with SSE or protobuf, or GET with SSE. */
export async function checkHttp(start: URL, session: Session): Promise<void> {
  let url = start;
  for (let redirects = 0; ; redirects++) {
    const response = await send(url, session, redirects === 0);
    if (response === undefined) return;
    const location = response.headers.get("location");
    if (
      response.status < 300 ||
      response.status > 399 ||
      location === undefined ||
      redirects === MAX_REDIRECTS
    ) {
      await checkResponse(response, session);
      const { get, capabilities } = session.options;
      if (session.reached === 3 && get !== true && capabilities !== false) {
        session.capabilities = await fetchCapabilities(url, session);
      }
      return;
    }
    const next = parseUrl(location, url);
    if (next === undefined || !isSameServer(url, next)) {
      const place = next === undefined ? "no address" : `${next.protocol}//${next.host}`;
      const detail = `${response.status} to ${place}, not followed`;
      session.findings.report("http/redirect", { detail });
      await checkResponse(response, session);
      return;
    }
    response.close();
    session.findings.report("http/redirect", { detail: `${response.status} to ${next.pathname}` });
    url = next;
  }
}

/**
 * Whether a redirect stays where the headers were meant for: they hold tokens, and the response of a hostile agent must
 * not send them, or this request, to whom it likes.
 */
function isSameServer(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:";
  return from.origin === to.origin || (isUpgrade && from.hostname === to.hostname);
}

async function send(
  url: URL,
  session: Session,
  first: boolean,
): Promise<ExchangeResponse | undefined> {
  const { options, phases, findings, timeoutMs } = session;
  const get = options.get === true;
  const connected = await connect({
    url,
    findings,
    phases,
    timeoutMs,
    alpn: ["h2", "http/1.1"],
    insecure: options.insecure === true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  if (connected === undefined) return undefined;
  session.network = connected.facts;
  session.reached = 2;
  if (first) {
    checkSetup(phases.list, findings);
    if (options.preflight !== false) await preflight(url, session);
  }
  const body = get ? undefined : JSON.stringify(session.input);
  const startMs = phases.now();
  // Only the head is waited for here; the body has its own clock.
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), timeoutMs);
  try {
    const response = await exchange(connected.socket, {
      method: get ? "GET" : "POST",
      url,
      headers: {
        accept:
          options.proto === true
            ? `${PROTO_MEDIA_TYPE}, text/event-stream;q=0.5`
            : "text/event-stream",
        "accept-encoding": "gzip, deflate, br",
        ...(get ? {} : { "content-type": "application/json" }),
        ...lowerCase(options.headers),
      },
      ...(body === undefined ? {} : { body }),
      signal: patience.signal,
    });
    phases.add("request", startMs, `${response.status} over HTTP/${response.httpVersion}`);
    session.byteFacts = {
      ...session.byteFacts,
      requestHeaders: response.requestHeaderBytes,
      spoken: response.httpVersion === "2" ? "sse-http2" : "sse-http1",
    };
    return response;
  } catch (error) {
    connected.socket.destroy();
    phases.add("request", startMs, "failed");
    const late = patience.signal.aborted;
    const { code = "", message = "" } = error as NodeJS.ErrnoException;
    findings.report(late ? "http/no-events" : "http/cut", {
      detail: late ? "no response at all" : code || message,
    });
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

async function checkResponse(response: ExchangeResponse, session: Session): Promise<void> {
  const { findings, options } = session;
  const { status, headers } = response;
  const contentType = headers.get("content-type") ?? "";
  const facts = {
    method: options.get === true ? "GET" : "POST",
    httpVersion: response.httpVersion,
    status,
    headers: Object.fromEntries(
      SHOWN.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? ""]] : [])),
    ),
  };
  const refused = ruleOfStatus(status, session);
  const proto = isProto(contentType);
  const sse = mediaType(contentType) === "text/event-stream";
  if (refused !== undefined || (!proto && !sse)) {
    const excerpt = await readExcerpt(response);
    session.exchange = { ...facts, excerpt };
    if (refused === undefined)
      findings.report("http/content-type", {
        detail: contentType === "" ? "none" : mediaType(contentType),
      });
    else if (refused !== "explained") findings.report(refused, { detail: `status ${status}` });
    response.close();
    return;
  }
  checkHeaders(headers, session, proto, contentType);
  const reader = proto
    ? protoReader(findings, session.check)
    : sseReader(findings, session.check, options.get === true);
  session.exchange = { ...facts, encoding: reader.encoding };
  session.reached = 3;
  await readBody(response, reader, session);
  response.close();
}

function ruleOfStatus(status: number, session: Session): RuleId | "explained" | undefined {
  const { findings, options } = session;
  if (status >= 200 && status < 300) return undefined;
  if (status === 401 || status === 403) {
    return carriesIdToken(lowerCase(options.headers)["authorization"])
      ? "http/id-token"
      : "http/auth";
  }
  if (status === 404 || status === 405) return "http/path";
  if (status === 400 || status === 415 || status === 422) {
    // The input was wrong and that was said already; the status only agrees.
    return findings.has("input/message-id") || findings.has("input/malformed")
      ? "explained"
      : "input/rejected";
  }
  return "http/status";
}

function checkHeaders(
  headers: ReadonlyMap<string, string>,
  session: Session,
  proto: boolean,
  contentType: string,
): void {
  const { findings, options } = session;
  if (proto && contentType.includes(";")) findings.report("proto/parameter");
  if (proto && options.proto !== true) findings.report("proto/unasked");
  if (!proto && options.proto === true) findings.report("proto/not-offered");
  const cache = headers.get("cache-control") ?? "";
  if (!/no-cache|no-store/i.test(cache)) findings.report("http/cacheable");
  if (/\bclose\b/i.test(headers.get("connection") ?? "")) findings.report("http/no-keep-alive");
  const encoding = headers.get("content-encoding");
  if (encoding !== undefined && encoding !== "identity")
    findings.report("http/compression", { detail: encoding });
}

async function readBody(
  response: ExchangeResponse,
  reader: BodyReader,
  session: Session,
): Promise<void> {
  const { findings, phases, arrivals, check } = session;
  const startMs = phases.now();
  const encoding = response.headers.get("content-encoding") ?? "identity";
  const body = encoding === "identity" ? response.body : decompress(response.body, encoding);
  if (body === undefined) {
    findings.report("http/encoding-unreadable", { detail: encoding });
    return;
  }
  const outcome = await consume(body, session, (chunk) => {
    arrivals.bytes(phases.now());
    reader.push(chunk);
  });
  reader.end(outcome.kind !== "end");
  phases.add("stream", startMs, `${session.events} events, ${outcome.kind}`);
  check.end();
  if (outcome.kind !== "end") {
    findings.withdraw("run/truncated");
    findings.withdraw("run/requested-run");
  }
  if (outcome.kind === "cut") {
    findings.report(outcome.zlib ? "http/encoding-unreadable" : "http/cut", {
      eventNumber: session.events,
      detail: outcome.detail,
    });
  } else if (outcome.kind === "late") {
    if (session.events === 0)
      findings.report("http/no-events", { detail: "the response began, but no event came" });
    else findings.report("http/stalled", { eventNumber: session.events });
  } else if (outcome.kind === "open" && session.options.get !== true) {
    findings.report("http/stalled", {
      eventNumber: session.events,
      detail: "the run has ended, but the body stays open",
    });
  }
  arrivals.check(findings, startMs);
}

type Outcome = { kind: "end" | "late" | "open" } | { kind: "cut"; detail: string; zlib: boolean };

/** Reads to the end, to a break, to the timeout, or until a finished run has lingered long enough. */
async function consume(
  body: AsyncIterable<Uint8Array>,
  session: Session,
  take: (chunk: Uint8Array) => void,
): Promise<Outcome> {
  const { timeoutMs, options, phases } = session;
  const deadline = phases.now() + timeoutMs;
  const iterator = body[Symbol.asyncIterator]();
  for (;;) {
    const left = deadline - phases.now();
    // A stream that never pauses would win every race against a timer.
    if (left <= 0) return { kind: "late" };
    const wait = session.finished ? Math.min(left, options.lingerMs ?? 5000) : left;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((done) => {
      timer = setTimeout(() => done(undefined), Math.max(0, wait));
    });
    try {
      const next = await Promise.race([iterator.next(), timeout]);
      if (next === undefined) return { kind: session.finished ? "open" : "late" };
      if (next.done === true) return { kind: "end" };
      take(next.value);
    } catch (error) {
      const { code = "", message = "" } = error as NodeJS.ErrnoException;
      return {
        kind: "cut",
        detail: code === "" ? message : code,
        zlib:
          code.startsWith("Z_") || code.startsWith("ERR_BROTLI") || code.startsWith("ERR__ERROR"),
      };
    } finally {
      clearTimeout(timer);
    }
  }
}

async function readExcerpt(response: ExchangeResponse): Promise<string> {
  let text = "";
  const late = setTimeout(() => response.close(), 2000);
  try {
    for await (const chunk of response.body) {
      text += Buffer.from(chunk).toString("utf8");
      if (text.length >= EXCERPT) break;
    }
  } catch {
    // The excerpt needs only the part that arrived.
  } finally {
    clearTimeout(late);
  }
  return text.slice(0, EXCERPT);
}

function lowerCase(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
