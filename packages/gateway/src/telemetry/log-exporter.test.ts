import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sseFrame } from "@countersign/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idsOf, inRun, text } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import { createJournal } from "./journal.js";

type Value = { stringValue?: string; intValue?: string; boolValue?: boolean };
type LogRecord = {
  timeUnixNano: string;
  severityNumber: number;
  severityText: string;
  body: Value;
  attributes: { key: string; value: Value }[];
  traceId?: string;
  spanId?: string;
};

const received: { path: string; headers: Record<string, unknown>; body: string }[] = [];
let status = 200;
let url = "";
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const body = Buffer.concat(parts).toString();
    received.push({ path: request.url ?? "", headers: request.headers, body });
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
});
beforeEach(async () => {
  received.length = 0;
  status = 200;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});

const records = (): LogRecord[] =>
  received
    .filter(({ path }) => path === "/v1/logs")
    .flatMap(({ body }) => {
      const sent = JSON.parse(body) as {
        resourceLogs: [{ scopeLogs: [{ logRecords: LogRecord[] }] }];
      };
      return sent.resourceLogs[0].scopeLogs[0].logRecords;
    });
const open = () => {
  const lines: string[] = [];
  const journal = createJournal({
    otlp: { endpoint: new URL(`${url}/v1/logs`), service: "shop", headers: { "x-key": "k" } },
    destination: { write: (line) => void lines.push(line) },
  });
  return { journal, lines };
};

test("every line is an OTLP log record with severity, facts and no secret", async () => {
  const { journal } = open();
  journal.info(
    { agent: "support", forwarded: 3, ok: true, list: ["a"], token: "s3cret" },
    "run ended",
  );
  journal.error({ code: "X" }, "store failing");
  await journal.stopExport();
  expect(received[0]?.headers).toMatchObject({ "content-type": "application/json", "x-key": "k" });
  expect(received[0]?.body).toContain('"shop"');
  expect(received[0]?.body).not.toContain("s3cret");
  const [info, error] = records();
  expect(info).toMatchObject({
    severityNumber: 9,
    severityText: "INFO",
    body: { stringValue: "run ended" },
    timeUnixNano: expect.stringMatching(/^\d{19}$/u),
  });
  expect(info?.attributes).toEqual(
    expect.arrayContaining([
      { key: "countersign.agent", value: { stringValue: "support" } },
      { key: "countersign.forwarded", value: { intValue: "3" } },
      { key: "countersign.ok", value: { boolValue: true } },
      { key: "countersign.list", value: { stringValue: '["a"]' } },
    ]),
  );
  expect(error).toMatchObject({ severityNumber: 17, severityText: "ERROR" });
  expect(journal.exportedLines).toBe(2);
});

test("the line of a run has the ids of its span", async () => {
  const served = await startServed(
    ({ body }) => ({ pieces: inRun(idsOf(body), text("m1", "hi")).map(sseFrame) }),
    {
      config:
        `tracing: { endpoint: "${url}/v1/traces", service: shop }\n` +
        `log: { otlp: { endpoint: "${url}/v1/logs" } }\n`,
    },
  );
  try {
    const response = await fetch(`${served.running.dataUrl}/agents/support?session=s1`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ protocolVersion: "1.0", threadId: "t1", runId: "r1", messages: [] }),
    });
    await response.text();
    await served.running.close();
    await served.journal.stopExport();
    const traces = received.find(({ path }) => path === "/v1/traces");
    const span = /"traceId":"(\w+)","spanId":"(\w+)"/u.exec(traces?.body ?? "");
    const ended = records().find(({ body }) => body.stringValue === "run ended");
    expect([ended?.traceId, ended?.spanId]).toEqual(span?.slice(1));
    expect(ended?.traceId).toMatch(/^[0-9a-f]{32}$/u);
  } finally {
    await served.stop();
  }
});

test("a collector that rejects lines loses them, which is counted and said on standard output only", async () => {
  status = 503;
  const { journal, lines } = open();
  for (let count = 0; count < 5000; count += 1) journal.info({ count }, "line");
  await journal.stopExport();
  expect(journal.lostLines).toBe(5000);
  expect(lines).toHaveLength(5001);
  expect(lines.at(-1)).toContain('"code":"LOGS_DROPPED"');
  expect(records().map(({ body }) => body.stringValue)).not.toContain(
    "the collector did not accept log lines",
  );
});
