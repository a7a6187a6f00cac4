import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { BEARER_SUBPROTOCOL } from "@countersign/wire/websocket";
import { afterEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import type { ServerOptions, WebSocket } from "ws";
import { createFindings } from "../check/findings.js";
import { faults } from "../testing/run-check.js";
import { examine } from "./doctor.js";
import { checkSetup } from "./timing.js";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

/** A WebSocket agent that answers each input by the script. */
async function socketAgent(
  answer: (socket: WebSocket, events: string[]) => void,
  options: ServerOptions = {},
): Promise<string> {
  const server = createServer();
  const sockets = new WebSocketServer({ server, ...options });
  sockets.on("connection", (socket) =>
    socket.on("message", (data) => {
      const { threadId, runId } = JSON.parse(String(data)) as Record<string, string>;
      const ids = { threadId, runId };
      answer(
        socket,
        [
          { type: "RUN_STARTED", ...ids },
          { type: "CUSTOM", name: "x/y", value: 1 },
          { type: "RUN_FINISHED", ...ids },
        ].map((event) => JSON.stringify(event)),
      );
    }),
  );
  const port = await listen(server);
  stops.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    return new Promise((done) => server.close(done));
  });
  return `ws://127.0.0.1:${port}/ws`;
}

const sendAll = (socket: WebSocket, events: readonly string[]): void => {
  for (const event of events) socket.send(event);
};

test("a clean WebSocket agent is clean, and the socket's bytes are measured", async () => {
  const report = await examine(await socketAgent(sendAll), { timeoutMs: 3000 });
  expect(report.findings).toEqual([]);
  expect(report.exchange).toMatchObject({ status: 101, frameStyle: "json" });
  const row = report.bytes.find(({ transport }) => transport === "websocket");
  expect(row).toMatchObject({ measured: true });
  expect(row?.setup).toBeGreaterThan(200);
});

test.each([
  [
    "SSE text in frames (AWS SDK)",
    "ws/sse-frames",
    (socket, events) =>
      sendAll(
        socket,
        events.map((event) => `data: ${event}\n\n`),
      ),
  ],
  [
    "a binary frame",
    "ws/binary",
    (socket, events) => {
      sendAll(socket, events.slice(0, 1));
      socket.send(Buffer.from("x"));
      sendAll(socket, events.slice(1));
    },
  ],
  ["a failing close code", "ws/close-code", (socket) => socket.close(1011)],
  [
    "a normal close without a terminal event",
    "run/truncated",
    (socket, events) => {
      sendAll(socket, events.slice(0, 1));
      socket.close(1000);
    },
  ],
  [
    "a cut socket",
    "http/cut",
    (socket, events) => {
      sendAll(socket, events.slice(0, 1));
      setTimeout(() => socket.terminate(), 50);
    },
  ],
  ["silence", "http/no-events", () => {}],
] as const satisfies readonly (readonly [
  string,
  string,
  (socket: WebSocket, events: string[]) => void,
])[])("WebSocket, %s: %s and nothing else", async (_symptom, rule, answer) => {
  const report = await examine(await socketAgent(answer), { timeoutMs: 500 });
  expect(faults(report.findings)).toEqual([rule]);
});

test("the token travels in the sub-protocol, and what the server selects is judged", async () => {
  const headers = { Authorization: "Bearer abc.def" };
  const options = { headers, subprotocol: true, timeoutMs: 2000 };
  const good = await socketAgent(sendAll, { handleProtocols: () => BEARER_SUBPROTOCOL });
  expect((await examine(good, options)).findings).toEqual([]);
  const echo = await socketAgent(sendAll, {
    handleProtocols: (offered) => [...offered][0] ?? false,
  });
  expect(faults((await examine(echo, options)).findings)).toEqual(["ws/subprotocol"]);
  const none = await socketAgent(sendAll, { handleProtocols: () => false });
  expect(faults((await examine(none, options)).findings)).toEqual(["ws/subprotocol"]);
});

test("an upgrade that is refused is told apart from one that is not understood", async () => {
  const denied = await socketAgent(sendAll, { verifyClient: (_info, done) => done(false, 401) });
  expect(faults((await examine(denied, { timeoutMs: 2000 })).findings)).toEqual(["ws/auth"]);
  const plain = createServer((_request, response) => response.end("hi"));
  const port = await listen(plain);
  stops.push(() => new Promise((done) => plain.close(done)));
  expect(faults((await examine(`ws://127.0.0.1:${port}/`, { timeoutMs: 2000 })).findings)).toEqual([
    "ws/upgrade",
  ]);
});

test("GET streams warn about named events, which EventSource hides from onmessage", async () => {
  const events = [
    { type: "RUN_STARTED", threadId: "t", runId: "r" },
    { type: "RUN_FINISHED", threadId: "t", runId: "r" },
  ];
  const agent = await startFakeAgent((request) => ({
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "*",
      "cache-control": "no-cache",
    },
    pieces:
      request.method === "OPTIONS" ? [] : events.map((event) => `event: run\n${sseFrame(event)}`),
  }));
  stops.push(agent.stop);
  expect(faults((await examine(agent.url, { get: true, timeoutMs: 2000 })).findings)).toEqual([
    "sse/named-event",
  ]);
});

test("a slow set-up is told with its time", () => {
  const findings = createFindings();
  checkSetup(
    [
      { name: "tcp", startMs: 0, endMs: 120 },
      { name: "tls", startMs: 120, endMs: 260 },
    ],
    findings,
  );
  expect(findings.list()).toMatchObject([
    { rule: "net/slow-setup", places: [{ detail: "260 ms" }] },
  ]);
});

test("a port that speaks no TLS fails in the handshake", async () => {
  const server = createTcpServer((socket) =>
    socket
      .on("error", () => {})
      .resume()
      .end("HTTP/1.1 400 Bad Request\r\n\r\n"),
  );
  const port = await listen(server);
  stops.push(() => new Promise((done) => server.close(done)));
  expect(
    faults((await examine(`https://127.0.0.1:${port}/`, { timeoutMs: 2000 })).findings),
  ).toEqual(["tls/handshake"]);
});

/** A fresh self-signed certificate; `undefined` where the openssl command is missing. */
function certificate(days: string): { key: string; cert: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "countersign-tls-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        key,
        "-out",
        cert,
        "-days",
        days,
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
      ],
      { stdio: "ignore" },
    );
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } catch {
    process.stderr.write("skipped: no openssl command to make a certificate with\n");
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tlsAgent(pair: { key: string; cert: string }): Promise<string> {
  const server = createSecureServer({ ...pair, allowHTTP1: true }, (request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        "access-control-allow-origin": "*",
        "access-control-allow-headers": "content-type",
      });
      if (body !== "") {
        const { threadId, runId } = JSON.parse(body) as Record<string, string>;
        response.write(sseFrame({ type: "RUN_STARTED", threadId, runId }));
        response.write(sseFrame({ type: "RUN_FINISHED", threadId, runId }));
      }
      response.end();
    });
  });
  const port = await listen(server);
  stops.push(() => new Promise((done) => server.close(done)));
  return `https://localhost:${port}/`;
}

test("TLS is described, an untrusted chain is layer 1, and HTTP/2 is spoken where offered", async (context) => {
  const pair = certificate("90");
  if (pair === undefined) return context.skip();
  const url = await tlsAgent(pair);
  const untrusted = await examine(url, { timeoutMs: 3000 });
  expect(faults(untrusted.findings)).toEqual(["tls/certificate"]);
  const trusted = await examine(url, { timeoutMs: 3000, ca: pair.cert });
  expect(trusted.findings).toEqual([]);
  expect(trusted.network?.tls).toMatchObject({
    version: "TLSv1.3",
    alpn: "h2",
    chain: [{ subject: "localhost" }],
  });
  expect(trusted.bytes.find(({ measured }) => measured)?.transport).toBe("sse-http2");
});

test("a certificate that ends within two weeks is a warning", async (context) => {
  const pair = certificate("5");
  if (pair === undefined) return context.skip();
  const report = await examine(await tlsAgent(pair), { timeoutMs: 3000, ca: pair.cert });
  expect(faults(report.findings)).toEqual(["tls/expires-soon"]);
});
