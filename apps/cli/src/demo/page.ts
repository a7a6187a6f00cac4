import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { VERIFIER_FILE } from "@countersign/console";
import type { FeedItem, RunningGateway } from "@countersign/gateway";
import { encodeSse } from "@countersign/wire/sse";
import type { SentAct, SentActs } from "./sent.js";

const ASSETS = new URL("../../assets/demo/", import.meta.url);
const SCRIPT = "text/javascript; charset=utf-8";

/** The files of the page and their types: no other file is read. */
const FILES: ReadonlyMap<string, string> = new Map([
  ["index.html", "text/html; charset=utf-8"],
  ["demo.css", "text/css; charset=utf-8"],
  ["a2ui.js", SCRIPT],
  ["acts.js", SCRIPT],
  ["chat.js", SCRIPT],
  ["conversation.js", SCRIPT],
  ["element.js", SCRIPT],
  ["events.js", SCRIPT],
  ["main.js", SCRIPT],
  ["outcomes.js", SCRIPT],
  ["receipt.js", SCRIPT],
  ["sentences.js", SCRIPT],
  ["side.js", SCRIPT],
  ["stream.js", SCRIPT],
  ["tools.js", SCRIPT],
  ["tour.js", SCRIPT],
  ["verify.js", SCRIPT],
]);

/** The URLs that the page uses. */
export type PageSettings = {
  readonly guarded: string;
  readonly direct: string;
  readonly console: string | undefined;
};

/** The parts of the page. */
export type PageOptions = {
  readonly running: RunningGateway;
  readonly acts: SentActs;
  /** The origins of the gateway and of the agent: the page connects to no other. */
  readonly connects: readonly string[];
  openSession(session: string): Promise<PageSettings>;
};

const SESSION = /^[\w-]{8,64}$/;
const SEQUENCE = /^\d{1,9}$/;

type Handler = (query: URLSearchParams, response: ServerResponse) => void | Promise<void>;

/** Serves the demo's page, its settings, the gateway's live feed and the evidence of a receipt; the admin token stays here. */
export function createDemoPage(options: PageOptions): RequestListener {
  const routes: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["settings.json", (query, response) => serveSettings(options, query, response)],
    ["evidence.json", (query, response) => serveEvidence(options, query, response)],
    ["feed", (query, response) => serveFeed(options, query, response)],
  ]);
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src data:",
    `connect-src 'self' ${options.connects.join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return (request, response) => {
    const url = urlOf(request);
    const path = url.pathname.slice(1) || "index.html";
    const route = routes.get(path) ?? ((_query, to) => serveFile(path, policy, to));
    Promise.resolve(route(url.searchParams, response)).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  };
}

/** Appended, not resolved: `//` would be a URL without a host, which must not end the demo. */
function urlOf(request: IncomingMessage): URL {
  const asked = request.url?.startsWith("/") === true ? request.url : "/";
  return new URL(`http://demo.invalid${asked}`);
}

async function serveFile(name: string, policy: string, response: ServerResponse): Promise<void> {
  const type = FILES.get(name);
  if (type === undefined) {
    response.writeHead(404).end();
    return;
  }
  const file = name === "verify.js" ? VERIFIER_FILE : fileURLToPath(new URL(name, ASSETS));
  const body = await readFile(file);
  response.writeHead(200, {
    "content-type": type,
    "content-security-policy": policy,
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
  });
  response.end(body);
}

async function serveSettings(
  { openSession }: PageOptions,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const session = query.get("session") ?? "";
  if (SESSION.test(session)) sendJson(response, await openSession(session));
  else response.writeHead(400).end();
}

/** An entry of the log as it was hashed, its proof, and the key of the log. */
async function serveEvidence(
  { running: { receipts } }: PageOptions,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const asked = query.get("seq") ?? "";
  const seq = SEQUENCE.test(asked) ? Number(asked) : Infinity;
  const { size } = await receipts.store.head();
  if (seq >= size) {
    response.writeHead(404).end();
    return;
  }
  const proof = await receipts.log.proof(seq);
  const entry = Buffer.from((await receipts.store.readEntries(seq, seq + 1))[0] ?? []);
  sendJson(response, { entry: entry.toString("utf8"), proof, key: receipts.logKey, size });
}

/** The decisions about one session, each with the act that the agent sent. */
function serveFeed(
  { running, acts }: PageOptions,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const session = query.get("session");
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  // The page asks its first question when the feed has begun.
  response.write(": feed\n\n");
  let sent = Promise.resolve();
  const stop = running.gateway.context.feed.listen((item) => {
    if (item.session_id !== session) return;
    // One after another: the page shows the decisions in the order of the log.
    sent = sent.then(async () => {
      const act = await findAct(running, acts, item).catch(() => undefined);
      response.write(encodeSse(JSON.stringify(act === undefined ? item : { ...item, act })));
    });
  });
  response.on("close", stop);
}

async function findAct(
  { receipts }: RunningGateway,
  acts: SentActs,
  { seq, run_id: runId }: FeedItem,
): Promise<SentAct | undefined> {
  const [entry] = await receipts.store.readEntries(seq, seq + 1);
  if (entry === undefined) return undefined;
  const { receipt } = JSON.parse(Buffer.from(entry).toString("utf8")) as {
    receipt: { payload_hash: string };
  };
  return acts.find(runId, receipt.payload_hash);
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(value));
}
