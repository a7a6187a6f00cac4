import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { selfSigned } from "../testing/self-signed.js";
import type { ListenLimits } from "./limits.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

async function start(listenLimits: Partial<ListenLimits>, tls = false): Promise<void> {
  fixture = await startFixture(HELD_AGENT, {
    gateway: { listenLimits, ...(tls ? { tls: selfSigned() } : {}) },
  });
}
const portOf = (): number => Number(new URL(fixture.url).port);

/** A raw connection that records the bytes it receives, and when it was closed. */
function raw(isTls = false): {
  send(text: string): void;
  ended: Promise<string>;
  isOpen(): boolean;
  end(): void;
} {
  const options = { port: portOf(), host: "127.0.0.1", rejectUnauthorized: false };
  const socket = isTls ? connectTls(options) : connect(options);
  let answer = "";
  let open = true;
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.on("error", () => {});
  const ended = new Promise<string>((resolve) => {
    socket.on("close", () => {
      open = false;
      resolve(answer);
    });
  });
  return {
    send: (text) => void (open && socket.write(text)),
    ended,
    isOpen: () => open,
    end: () => void socket.destroy(),
  };
}
const ping = "GET /ping HTTP/1.1\r\nHost: x\r\n\r\n";

/** Sends one character at a time until the connection closes. */
async function drip(connection: ReturnType<typeof raw>, text: string): Promise<string> {
  let index = 0;
  const timer = setInterval(() => connection.send(text[index++ % text.length] as string), 20);
  const answer = await connection.ended;
  clearInterval(timer);
  return answer;
}

function post(body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${fixture.url}/ag-ui/run`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
}
/** An input; white space around it is legal JSON. */
const input = (runId: string, pad = ""): string =>
  JSON.stringify({ threadId: runId, runId, protocolVersion: "1.0", messages: [] }) + pad;

test("connections of one address: at the limit, one above, and again after one closed", async () => {
  await start({ connectionsPerAddress: 2, trustedProxies: [] });
  const [first, second] = [raw(), raw()];
  first.send(ping);
  second.send(ping);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([first.isOpen(), second.isOpen()]).toEqual([true, true]);
  const third = raw();
  expect(await third.ended).toBe("");
  first.end();
  await first.ended;
  await vi.waitFor(async () => expect((await fetch(`${fixture.url}/ping`)).status).toBe(200));
  second.end();
});

test("behind a trusted proxy the address that the proxy reports counts, and no other", async () => {
  await start({ connectionsPerAddress: 1 });
  const from = (address: string): Record<string, string> => ({ "x-forwarded-for": address });
  const held = await post(input("held-1"), from("203.0.113.7"));
  expect(held.status).toBe(200);
  // An address that the client put in front of the proxy's makes no difference.
  const over = await post(input("r2"), from("198.51.100.1, 203.0.113.7"));
  expect(over.status).toBe(429);
  expect(await over.json()).toMatchObject({ code: "ERR_ACCESS_ADDRESS" });
  expect((await post(input("r3"), from("203.0.113.8"))).status).toBe(200);
  await held.body?.cancel();
  await vi.waitFor(async () =>
    expect((await post(input(`r-${Math.random()}`), from("203.0.113.7"))).status).toBe(200),
  );
});

test("connections in total: at the limit, one above", async () => {
  await start({ connections: 1 });
  const first = raw();
  first.send(ping);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(first.isOpen()).toBe(true);
  expect(await raw().ended).toBe("");
  first.end();
});

test.each([
  ["HTTP", false],
  ["HTTPS", true],
])("a head that drips in over %s is cut in time", async (_name, tls) => {
  await start({ headersTimeoutMs: 200, requestTimeoutMs: 200 }, tls);
  const connection = raw(tls);
  connection.send("GET /ping HTTP/1.1\r\nHost: x\r\n");
  expect(await drip(connection, "X-Pad: 1\r\n")).toMatch(/^(HTTP\/1\.1 408|$)/);
});

test.each([
  ["HTTP", false],
  ["HTTPS", true],
])("a body that drips in over %s is cut in time, and reaches no agent", async (_name, tls) => {
  await start({ headersTimeoutMs: 200, requestTimeoutMs: 200 }, tls);
  const connection = raw(tls);
  connection.send("POST /ag-ui/run HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n");
  expect(await drip(connection, "{")).toMatch(/^HTTP\/1\.1 408/);
  expect(fixture.agentRequests).toEqual([]);
});

test("a body that drips in over HTTP/2 is rejected in time", async () => {
  await start({ requestTimeoutMs: 150 }, true);
  const session = connectHttp2(`https://127.0.0.1:${portOf()}`, { rejectUnauthorized: false });
  session.on("error", () => {});
  const stream = session.request(
    { ":method": "POST", ":path": "/ag-ui/run" },
    { endStream: false },
  );
  stream.on("error", () => {});
  const timer = setInterval(() => void (!stream.closed && stream.write("{")), 20);
  const status = await new Promise((resolve) => {
    stream.on("response", (headers) => resolve(headers[":status"]));
  });
  clearInterval(timer);
  expect(status).toBe(408);
  session.destroy();
});

test("an HTTP/2 connection that opens no stream is closed in time", async () => {
  await start({ headersTimeoutMs: 150 }, true);
  const session = connectHttp2(`https://127.0.0.1:${portOf()}`, { rejectUnauthorized: false });
  session.on("error", () => {});
  await new Promise<void>((resolve) => {
    session.once("close", () => resolve());
  });
  expect(session.closed).toBe(true);
});

test.each([
  ["that reads none of its responses", { initialWindowSize: 0 }, true],
  ["that sends more of its body after the response", {}, false],
])(
  "an HTTP/2 client %s is closed in time; one with an open stream is not",
  async (_name, settings, endsBody) => {
    await start({ requestTimeoutMs: 100, keepAliveMs: 50 }, true);
    const options = { rejectUnauthorized: false };
    const address = `https://127.0.0.1:${portOf()}`;
    const kept = connectHttp2(address, options);
    kept.on("error", () => {});
    const stream = kept.request({ ":path": "/ag-ui/stream?session=held&run=held" });
    stream.resume();
    const held = connectHttp2(address, { ...options, settings });
    held.on("error", () => {});
    const closed = new Promise((resolve) => held.once("close", resolve));
    for (let count = 0; count < 5; count += 1) {
      const request = held.request({ ":method": "POST", ":path": "/nowhere" });
      request.on("error", () => {});
      request.write("x");
      if (endsBody) request.end();
      else request.resume();
    }
    await closed;
    expect(stream.closed).toBe(false);
    kept.destroy();
  },
);

test("a head at the limit is read, one above is rejected", async () => {
  await start({ headerBytes: 2048 });
  const status = (size: number): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const request = httpRequest(
        `${fixture.url}/ping`,
        { headers: { "x-pad": "x".repeat(size) } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      request.on("error", reject);
      request.end();
    });
  expect(await status(1500)).toBe(200);
  expect(await status(2048)).toBe(431);
});

test("a body at the limit is read, one byte above is rejected with a receipt", async () => {
  const at = input("r1", " ".repeat(1000));
  await start({ bodyBytes: at.length });
  expect((await post(at)).status).toBe(200);
  const refused = await post(input("r2", " ".repeat(1001)));
  expect(refused.status).toBe(413);
  const { receipt } = fixture.recorder.drafts.at(-1) ?? {};
  expect(receipt).toMatchObject({ denial_reason: "invalid request: ERR_LIMIT_EXCEEDED" });
  expect(await refused.json()).toMatchObject({ receipt: `agui-${receipt?.event_id}` });
});

test("a connection without a next request is closed", async () => {
  await start({ keepAliveMs: 100 });
  const connection = raw();
  connection.send(ping);
  expect(await connection.ended).toMatch(/^HTTP\/1\.1 200/);
});

/** A socket, with its messages and its close code. */
async function open(): Promise<{
  socket: WebSocket;
  events: { code?: string }[];
  closed: Promise<[number, string]>;
}> {
  const socket = new WebSocket(`${fixture.webSocketUrl}/ws`);
  const events: { code?: string }[] = [];
  socket.on("message", (data) => void events.push(JSON.parse(String(data)) as { code?: string }));
  const closed = new Promise<[number, string]>((resolve) => {
    socket.on("close", (code, reason) => resolve([code, reason.toString()]));
  });
  await new Promise((resolve) => socket.once("open", resolve));
  return { socket, events, closed };
}

test("a message at the limit is read, one byte above closes the socket", async () => {
  const at = input("r1", " ".repeat(2000));
  await start({ frameBytes: at.length });
  const { socket, events, closed } = await open();
  socket.send(at);
  await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" }));
  socket.send(input("r2", " ".repeat(2001)));
  expect((await closed)[0]).toBe(1009);
});

test("a burst of twice the rate is accepted, one more message closes the socket", async () => {
  await start({ messagesPerSecond: 2 });
  const { socket, events, closed } = await open();
  for (let times = 0; times < 4; times++) socket.send('{"type":"STOP"}');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(socket.readyState).toBe(WebSocket.OPEN);
  for (let times = 0; times < 2; times++) socket.send('{"type":"STOP"}');
  expect((await closed)[0]).toBe(1008);
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "ERR_SOCKET_RATE" });
});

test("an idle socket is closed; one with an open run is not, however silent", async () => {
  await start({ socketIdleMs: 150 });
  const [idle, busy] = [await open(), await open()];
  busy.socket.send(input("held"));
  expect(await idle.closed).toEqual([1001, "IDLE"]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(busy.socket.readyState).toBe(WebSocket.OPEN);
  busy.socket.send('{"type":"STOP"}');
  expect(await busy.closed).toEqual([1001, "IDLE"]);
});
