import { createServer, connect } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { startTornLine } from "@countersign/testkit";
import type { GatewayOptions } from "../serve/gateway.js";
import { startLinked } from "../testing/linked.js";
import type { Linked } from "../testing/linked.js";
import { selfSigned } from "../testing/self-signed.js";
import type { ReadFrame } from "../testing/stream-reader.js";
import { ask, comeBack, createTalker, INPUT, textOf } from "../testing/talker.js";
import type { Talker } from "../testing/talker.js";
import { openLink } from "./relay-protocol.js";

let linked: Linked | undefined;
let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
  await linked?.first.stop();
  await linked?.second.stop();
  linked = undefined;
});

/** Starts a stream at the first gateway and disconnects its client. */
async function startLost(
  talker: Talker,
  gateway: Partial<GatewayOptions> = {},
): Promise<Linked & { last: ReadFrame | undefined }> {
  linked = await startLinked(talker.script, gateway);
  talker.upTo(1);
  const began = await ask(linked.first, { dropAfter: 3 });
  await began.closed;
  return { ...linked, last: began.frames.at(-1) };
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => undefined);
    sockets.add(socket);
  });
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function codeOf({ second, last }: Linked & { last: ReadFrame | undefined }) {
  const answer = await fetch(`${second.url}/agents/support?reconnect=1`, {
    method: "POST",
    headers: { "last-event-id": last?.id ?? "" },
    body: JSON.stringify(INPUT),
  });
  const { code, remedy } = (await answer.json()) as Record<string, string>;
  return [answer.status, code, typeof remedy, answer.headers.get("retry-after")];
}

const UNREACHABLE = [503, "ERR_STREAM_UNREACHABLE", "string", "5"];
const portOf = ({ gateway }: Linked["first"]): number =>
  ((gateway.relayPlane as Server).address() as AddressInfo).port;

test("when the link breaks the gateway closes the client's connection, and the client resumes", async () => {
  const talker = createTalker(3);
  const lost = await startLost(talker);
  const line = await startTornLine(portOf(lost.first));
  ends.push(() => line.stop());
  lost.addresses.set(lost.firstTag, { host: "127.0.0.1", port: Number(new URL(line.url).port) });
  const passed = await comeBack(lost.second, lost.last);
  expect(passed.status).toBe(200);
  talker.upTo(2);
  await expect.poll(() => passed.frames.length).toBe(1);
  line.tear();
  await passed.closed;
  expect(passed.isWhole()).toBe(false);
  const again = await comeBack(lost.second, passed.frames.at(-1));
  talker.upTo(3);
  await again.closed;
  expect(again.isWhole()).toBe(true);
  expect(textOf([...passed.frames, ...again.frames])).toBe("1 2 ");
});

test("a gateway that is down, silent or has another key gives 503, and the client can still resume", async () => {
  const talker = createTalker(3);
  const lost = await startLost(talker);
  const home = lost.addresses.get(lost.firstTag);
  const at = (port: number): unknown =>
    lost.addresses.set(lost.firstTag, { host: "127.0.0.1", port });
  // No process listens on this port.
  const closed = createServer();
  const port = await listen(closed);
  await (ends.pop() as () => Promise<void>)();
  at(port);
  expect(await codeOf(lost)).toEqual(UNREACHABLE);
  // Accepts connections and sends nothing.
  at(await listen(createServer()));
  expect(await codeOf(lost)).toEqual(UNREACHABLE);
  // Accepts TLS with another key, or with a certificate.
  const ciphers = "ECDHE-PSK-CHACHA20-POLY1305";
  const stranger = createTlsServer({
    ciphers,
    maxVersion: "TLSv1.2",
    pskCallback: () => Buffer.alloc(32, 9),
  });
  at(await listen(stranger));
  expect(await codeOf(lost)).toEqual(UNREACHABLE);
  let opened = 0;
  const certified = createTlsServer({ ...selfSigned() }, () => (opened += 1));
  at(await listen(certified));
  expect(await codeOf(lost)).toEqual(UNREACHABLE);
  expect(opened).toBe(0);
  expect([...lost.second.gateway.context.telemetry.relays.results.entries()]).toEqual([
    ["failed", "", 4],
  ]);
  expect(lost.second.gateway.context.telemetry.relays.open).toBe(0);
  lost.addresses.set(lost.firstTag, home as { host: string; port: number });
  const back = await comeBack(lost.second, lost.last);
  talker.upTo(3);
  await back.closed;
  expect(textOf(back.frames)).toBe("1 2 ");
}, 20_000);

test("a relay above the limit gets 503", async () => {
  const talker = createTalker(3);
  const lost = await startLost(talker, { listenLimits: { relays: 1 } });
  const passed = await comeBack(lost.second, lost.last);
  expect(passed.status).toBe(200);
  expect(await codeOf(lost)).toEqual([503, "ERR_STREAM_RELAYS", "string", "5"]);
  passed.tear();
  await expect.poll(() => lost.second.gateway.context.telemetry.relays.open).toBe(0);
  const again = await comeBack(lost.second, lost.last);
  expect(again.status).toBe(200);
  again.tear();
});

test("a client that disconnects during the relay request leaves nothing open", async () => {
  const talker = createTalker(3);
  const lost = await startLost(talker);
  const silent = createServer();
  lost.addresses.set(lost.firstTag, { host: "127.0.0.1", port: await listen(silent) });
  const asked = fetch(`${lost.second.url}/agents/support?reconnect=1`, {
    method: "POST",
    headers: { "last-event-id": lost.last?.id ?? "" },
    signal: AbortSignal.timeout(300),
    body: JSON.stringify(INPUT),
  });
  await expect(asked).rejects.toThrow();
  const { relays } = lost.second.gateway.context.telemetry;
  await expect.poll(() => relays.open).toBe(0);
  expect(relays.results.total).toBe(0);
  expect(lost.second.gateway.context.telemetry.refusals.total).toBe(0);
});

test("a gateway that closes ends its relays, and the streams continue at their own gateway", async () => {
  const talker = createTalker(3);
  const lost = await startLost(talker);
  const passed = await comeBack(lost.second, lost.last);
  expect(passed.status).toBe(200);
  await lost.second.gateway.close();
  await passed.closed;
  expect(passed.isWhole()).toBe(false);
  const back = await comeBack(lost.first, lost.last);
  talker.upTo(3);
  await back.closed;
  expect(textOf(back.frames)).toBe("1 2 ");
});

test("the last events of a gateway that closes reach clients that resumed at another gateway", async () => {
  const talker = createTalker(3);
  const lost = await startLost(talker);
  const passed = await comeBack(lost.second, lost.last);
  expect(passed.status).toBe(200);
  await lost.first.gateway.close();
  await passed.closed;
  expect(JSON.parse(passed.frames.at(-1)?.data ?? "{}")).toMatchObject({ code: "RUN_STOPPED" });
  expect(passed.isWhole()).toBe(true);
});

test("a peer without the key of the log gets no response, and the streams stay at their gateway", async () => {
  const talker = createTalker(3);
  const lost = await startLost(talker);
  const port = portOf(lost.first);
  const outcome = (socket: Socket): Promise<unknown> =>
    new Promise((resolve) => {
      let heard = "";
      socket.on("data", (bytes) => (heard += String(bytes)));
      socket.on("secureConnect", () => resolve("in"));
      socket.on("error", () => resolve("refused"));
      socket.on("close", () => resolve(heard === "" ? "refused" : heard));
      ends.push(() => void socket.destroy());
    });
  const plain = connect(port, "127.0.0.1");
  plain.write("POST /relay/1 HTTP/1.1\r\nhost: x\r\n\r\n");
  expect(String(await outcome(plain))).not.toContain("HTTP");
  expect(await outcome(openLink({ host: "127.0.0.1", port }, Buffer.alloc(32, 9)))).toBe("refused");
  expect(await outcome(connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false }))).toBe(
    "refused",
  );
  const back = await comeBack(lost.second, lost.last);
  talker.upTo(3);
  await back.closed;
  expect(textOf(back.frames)).toBe("1 2 ");
});
