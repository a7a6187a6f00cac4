import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { ADD_CHECKPOINT, MAX_ADD_CHECKPOINT_BYTES } from "./add-checkpoint.js";
import type { Witness, WitnessResponse } from "./witness.js";

/** Counts of a witness since its start. */
export type WitnessFigures = {
  /** Responses by status. */
  readonly responses: ReadonlyMap<number, number>;
  /** Responses to valid checkpoints, by origin and status. */
  readonly logs: ReadonlyMap<string, ReadonlyMap<number, number>>;
};

/** Options of {@link createWitnessServer}. */
export type WitnessServerOptions = {
  /** Called after each request for a cosignature. */
  readonly onResponse?: (response: WitnessResponse) => void;
  /** Called when the state could not be read or written. */
  readonly onError?: (error: unknown) => void;
};

/** A witness over HTTP. */
export type WitnessServer = { readonly server: Server; readonly figures: WitnessFigures };

const MAX_CONNECTIONS = 256;
const REQUEST_MS = 10_000;
const MAX_HEADER_BYTES = 8192;
const TEXT = "text/plain; charset=utf-8";
const NEWEST = /^\/([0-9a-f]{64})\/checkpoint$/;

/** Serves a witness: `POST /add-checkpoint`, `GET /<hash of origin>/checkpoint`, `GET /metrics`. */
export function createWitnessServer(
  witness: Witness,
  options: WitnessServerOptions = {},
): WitnessServer {
  const responses = new Map<number, number>();
  const logs = new Map<string, Map<number, number>>();
  const count = ({ status, origin }: WitnessResponse): void => {
    responses.set(status, (responses.get(status) ?? 0) + 1);
    if (origin === undefined) return;
    const own = logs.get(origin) ?? new Map<number, number>();
    logs.set(origin, own.set(status, (own.get(status) ?? 0) + 1));
  };
  const figures = { responses, logs };
  const respond = async (request: IncomingMessage): Promise<WitnessResponse> => {
    const { pathname: path } = new URL(request.url ?? "/", "http://witness");
    if (path === `/${ADD_CHECKPOINT}` && request.method === "POST") {
      const body = await readBody(request);
      if (body === undefined) return { status: 400, body: "the body is too large or not text\n" };
      const response = await witness.addCheckpoint(body);
      count(response);
      options.onResponse?.(response);
      return response;
    }
    if (request.method !== "GET") return { status: 404, body: "no such path\n" };
    if (path === "/metrics") return { status: 200, body: writeFigures(figures) };
    const hash = NEWEST.exec(path)?.[1];
    const newest = hash === undefined ? undefined : await witness.newest(hash);
    return newest === undefined
      ? { status: 404, body: "no such path\n" }
      : { status: 200, body: newest };
  };
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    respond(request).then(
      (result) => send(response, result),
      (error: unknown) => {
        options.onError?.(error);
        send(response, { status: 500, body: "the witness cannot sign now\n" });
      },
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = REQUEST_MS;
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = 30_000;
  return { server, figures };
}

function send(response: ServerResponse, { status, body, type }: WitnessResponse): void {
  response.writeHead(status, {
    "content-type": type ?? TEXT,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(status === 429 ? { "retry-after": "10" } : {}),
  });
  response.end(body);
}

/** The body as text; `undefined` when it is too large, not UTF-8, or aborted. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > MAX_ADD_CHECKPOINT_BYTES) return undefined;
      pieces.push(piece);
    }
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch {
    return undefined;
  }
}

/** The figures in the text format of Prometheus. */
function writeFigures({ responses, logs }: WitnessFigures): string {
  const name = "countersign_witness_responses_total";
  const lines = [
    `# HELP ${name} Responses to add-checkpoint by status`,
    `# TYPE ${name} counter`,
    ...[...responses].map(([status, count]) => `${name}{status="${status}"} ${count}`),
    `# HELP countersign_witness_log_responses_total Responses to checkpoints with a valid signature`,
    `# TYPE countersign_witness_log_responses_total counter`,
  ];
  for (const [origin, own] of logs) {
    for (const [status, count] of own) {
      const log = origin.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
      lines.push(
        `countersign_witness_log_responses_total{log="${log}",status="${status}"} ${count}`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}
