import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeSse } from "../sse/encode.js";
import { createByteAccount } from "./account.js";
import { compareTransports } from "./compare.js";
import { measureEvent, TRANSPORTS } from "./measure.js";

/** Frame sizes of a published capture: "Say hi in 5 words" answered over a WebSocket. */
const CAPTURED = [158, 73, 146, 130, 134, 133, 132, 133, 113, 73, 139];

test("an event over SSE and HTTP/2 has the published 17 bytes of framing", () => {
  expect(measureEvent("sse-http2", 129)).toEqual({ payload: 129, framing: 17, total: 146 });
  expect(17 / 129).toBeCloseTo(0.13, 2);
});

test("a WebSocket frame has the published 2 and 6 bytes up to 125 bytes, and more beyond (RFC 6455)", () => {
  expect(measureEvent("websocket-down", 73).framing).toBe(2);
  expect(measureEvent("websocket-up", 73).framing).toBe(6);
  // The published table says 132 and 436 here; it leaves out the extended length.
  expect(measureEvent("websocket-down", 130).total).toBe(134);
  expect(measureEvent("websocket-up", 430).total).toBe(438);
});

test.each([
  ["websocket-down", 125, 2],
  ["websocket-down", 126, 4],
  ["websocket-down", 65_535, 4],
  ["websocket-down", 65_536, 10],
  ["websocket-up", 65_536, 14],
  ["sse-http2", 16_384 - 8, 17],
  ["sse-http2", 16_384 - 7, 26],
  ["sse-http1", 0xf - 8, 8 + 5],
  ["sse-http1", 0x10 - 8, 8 + 6],
  ["sse-http1", 0x1000 - 8, 8 + 8],
] as const)(
  "%s with %i bytes of payload has %i bytes of framing",
  (transport, payload, framing) => {
    expect(measureEvent(transport, payload)).toEqual({
      payload,
      framing,
      total: payload + framing,
    });
  },
);

test("the captured session adds up as published: 2,311 bytes of request for SSE, one frame for a socket", () => {
  const costs = compareTransports({ input: 430, requestHeaderBytes: 800 + 1081, events: CAPTURED });
  expect(
    costs.map(({ transport, request, payload, framing }) => [transport, request, payload, framing]),
  ).toEqual([
    ["sse-http1", 2311, 1364, 11 * (8 + 6)],
    ["sse-http2", 2311, 1364, 11 * 17],
    ["websocket", 438, 1364, 8 * 4 + 3 * 2],
  ]);
  expect(costs.map((cost) => Math.round(cost.overheadPercent * 10) / 10)).toEqual([
    11.3, 13.7, 2.8,
  ]);
  expect(costs.map((cost) => cost.total)).toEqual([3829, 3862, 1840]);
});

test("totals are the sums of the parts, and text counts as UTF-8", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TRANSPORTS),
      fc.array(fc.string({ unit: "grapheme" })),
      (transport, texts) => {
        const account = createByteAccount(transport);
        let sum = 0;
        for (const text of texts) {
          const bytes = account.add(text);
          expect(bytes.payload).toBe(Buffer.byteLength(text));
          sum += bytes.total;
        }
        const totals = account.totals();
        expect(totals).toMatchObject({ events: texts.length, total: sum });
        expect(totals.payload + totals.framing).toBe(sum);
      },
    ),
  );
});

test("HTTP/1.1 framing is what Node's own server writes", async () => {
  const payloads = ["{}", '{"delta":"é"}', `{"delta":"${"x".repeat(5000)}"}`];
  const server = createServer((_request, response) => {
    // An event is an event of its own: what is written in one go may share a chunk (Node 26).
    const writeNext = (index: number): void => {
      const payload = payloads[index];
      if (payload === undefined) response.end();
      else response.write(encodeSse(payload), () => setImmediate(writeNext, index + 1));
    };
    writeNext(0);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const received: Buffer[] = [];
  for await (const chunk of socket) received.push(chunk as Buffer);
  server.close();
  const raw = Buffer.concat(received);
  const body = raw.length - (raw.indexOf("\r\n\r\n") + 4) - "0\r\n\r\n".length;
  const account = createByteAccount("sse-http1");
  for (const payload of payloads) account.add(payload);
  expect(body).toBe(account.totals().total);
});

test("a negative or fractional number of bytes is the caller's mistake", () => {
  for (const bad of [-1, 0.5, Number.NaN]) {
    expect(() => measureEvent("sse-http1", bad)).toThrow(TypeError);
  }
});
