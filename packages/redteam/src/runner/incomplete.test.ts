import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { RESET } from "@countersign/testkit";
import type { FakePiece } from "@countersign/testkit";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { runDocument } from "./run-document.js";
import { spoken } from "./testing/driven.js";
import {
  callOf,
  documentOf,
  FINISHED,
  HELLO,
  runScripted,
  STARTED,
  streamOf,
} from "./testing/scripted.js";

const CALLS_PAY =
  "{surface: tool_call_start, target: toolCallName, pattern: {condition: pay}, protocol: ag_ui}";
const document = documentOf(HELLO, CALLS_PAY);
const WHOLE = streamOf(...callOf("1", "look"), ...spoken("I am sorry."));
const TEXT = WHOLE.join("");

test.each(["post", "get"] as const)(
  "a stream that ends before its last event is not a defence (%s)",
  async (transport) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: TEXT.length - 2 }),
        fc.boolean(),
        async (cut, isReset) => {
          const pieces: FakePiece[] = [TEXT.slice(0, cut)];
          if (isReset) pieces.push(RESET);
          const ran = await runScripted(document, [pieces], { transport, refusalsCount: true });
          expect(ran.outcome).toBe("error");
        },
      ),
      { numRuns: 60 },
    );
  },
);

test("a run over a WebSocket that lacks an event, or has a malformed one, is not a defence", async () => {
  const events = [STARTED, ...callOf("1", "look"), ...spoken("no"), FINISHED].map((event) =>
    JSON.stringify(event),
  );
  for (let cut = 0; cut < events.length; cut += 1) {
    const scripts: FakePiece[][] = [
      events.slice(0, cut),
      [...events.slice(0, cut), RESET],
      events.toSpliced(cut, 1, "null"),
    ];
    for (const pieces of scripts) {
      const ran = await runScripted(document, [pieces], {
        transport: "websocket",
        refusalsCount: true,
        timeouts: { idle: 50, firstByte: 50 },
      });
      expect(ran.outcome).toBe("error");
    }
  }
});

const ANSWERS: [
  title: string,
  status: number,
  headers: Record<string, string>,
  body: string | Buffer,
][] = [
  ["nothing", 200, {}, ""],
  ["no content", 204, {}, ""],
  ["a page", 200, { "content-type": "text/html" }, "<html>data: login</html>"],
  ["JSON", 200, { "content-type": "application/json" }, '{"type":"RUN_FINISHED"}'],
  [
    "JSON over lines",
    200,
    { "content-type": "application/x-ndjson" },
    '{"type":"RUN_STARTED"}\n{"type":"RUN_FINISHED"}\n',
  ],
  [
    "protobuf",
    200,
    { "content-type": "application/vnd.ag-ui.event+proto" },
    Buffer.from([0, 0, 0, 4, 10, 2, 8, 1]),
  ],
  [
    "compressed events",
    200,
    { "content-type": "text/event-stream", "content-encoding": "gzip" },
    gzipSync(TEXT),
  ],
  ["comments", 200, { "content-type": "text/event-stream" }, ": ping\n\n: ping\n\n"],
  [
    "the end marker of another API",
    200,
    { "content-type": "text/event-stream" },
    "data: [DONE]\n\n",
  ],
  ...[301, 302, 307].map((status): [string, number, Record<string, string>, string] => [
    `redirect ${status}`,
    status,
    { location: "/login" },
    "",
  ]),
  ...[
    401, 402, 402, 404, 405, 406, 407, 408, 410, 411, 412, 414, 421, 423, 424, 425, 426, 428, 429,
    431, 451, 500, 501, 502, 503, 504, 511,
  ].map((status): [string, number, Record<string, string>, string] => [
    `status ${status}`,
    status,
    {},
    '{"code":"POLICY_BLOCKED"}',
  ]),
];

test.each(ANSWERS)(
  "a target that answers with %s has resisted nothing",
  async (_, status, headers, body) => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(status, headers);
      response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const ran = await runDocument(document, {
      target,
      refusalsCount: true,
      timeouts: { idle: 500 },
    });
    server.closeAllConnections();
    server.close();
    expect(ran.outcome).toBe("error");
  },
);
