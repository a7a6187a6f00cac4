import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sseFrame } from "@countersign/testkit";
import { expect, test } from "vitest";
import { idsOf, inRun, text } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import { createTracer } from "./tracer.js";
import { formatTraceparent, parseTraceparent } from "./otlp.js";

type Received = { headers: Record<string, unknown>; path: string; body: string };

async function startCollector(status = 200) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      received.push({
        headers: request.headers,
        path: request.url ?? "",
        body: Buffer.concat(parts).toString(),
      });
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { received, url, close };
}

const script = ({ body }: { body: string }) => ({
  pieces: inRun(idsOf(body), text("m1", "secret words")).map(sseFrame),
});
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

function ask(url: string, headers: Record<string, string>) {
  return fetch(`${url}/agents/support?session=s1`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", ...headers },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: "t1", runId: "r1", messages: [] }),
  });
}

test("a run is one span under the client's trace, sent to the agent and to a collector over OTLP/HTTP", async () => {
  const collector = await startCollector();
  const served = await startServed(script, {
    config: `tracing: { endpoint: "${collector.url}", service: shop, headers: { X-Key: k } }\n`,
  });
  try {
    await (await ask(served.running.dataUrl, { traceparent: `00-${TRACE}-${PARENT}-01` })).text();
    const passedOn = parseTraceparent(served.agentRequests[0]?.headers["traceparent"]);
    expect(passedOn).toMatchObject({ traceId: TRACE, isSampled: true });
    expect(passedOn?.spanId).not.toBe(PARENT);
    await served.running.close();
    const [request] = collector.received;
    expect(request?.path).toBe("/v1/traces");
    expect(request?.headers).toMatchObject({ "content-type": "application/json", "x-key": "k" });
    const sent = JSON.parse(request?.body ?? "") as {
      resourceSpans: [{ resource: object; scopeSpans: [{ spans: Record<string, unknown>[] }] }];
    };
    expect(JSON.stringify(sent.resourceSpans[0].resource)).toContain('"shop"');
    const { spans } = sent.resourceSpans[0].scopeSpans[0];
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({
      traceId: TRACE,
      spanId: passedOn?.spanId,
      parentSpanId: PARENT,
      name: "ag-ui run",
      status: { code: 0 },
      startTimeUnixNano: expect.stringMatching(/^\d{19}$/u),
    });
    const words = JSON.stringify(spans[0]);
    for (const fact of ["support", "r1", "finished", "countersign.events_forwarded"])
      expect(words).toContain(fact);
    for (const [key, value] of [
      ["client.address", "127.0.0.1"],
      ["session.id", "s1"],
      ["gen_ai.conversation.id", "t1"],
    ]) {
      expect(spans[0]?.["attributes"]).toContainEqual({ key, value: { stringValue: value } });
    }
    // An anonymous client has no principal.
    expect(words).not.toContain("enduser.id");
    expect(words).not.toContain("secret words");
  } finally {
    await served.stop();
    collector.close();
  }
});

test("a trace that the client does not sample is propagated and not exported", async () => {
  const collector = await startCollector();
  const served = await startServed(script, {
    config: `tracing: { endpoint: "${collector.url}" }\n`,
  });
  try {
    await (await ask(served.running.dataUrl, { traceparent: `00-${TRACE}-${PARENT}-00` })).text();
    expect(served.agentRequests[0]?.headers["traceparent"]).toMatch(/-00$/u);
    await served.running.close();
    expect(collector.received).toEqual([]);
  } finally {
    await served.stop();
    collector.close();
  }
});

test("without an endpoint nothing is traced and no header is sent", async () => {
  const served = await startServed(script);
  try {
    await (await ask(served.running.dataUrl, { traceparent: `00-${TRACE}-${PARENT}-01` })).text();
    expect(served.agentRequests[0]?.headers["traceparent"]).toBeUndefined();
    expect(served.running.gateway.context.telemetry.tracer).toBeUndefined();
  } finally {
    await served.stop();
  }
});

test("a collector that rejects spans loses them, which is counted, and nothing else", async () => {
  const collector = await startCollector(500);
  const failures: string[] = [];
  const tracer = createTracer({
    endpoint: new URL(collector.url),
    resource: {},
    onFailure: (reason) => void failures.push(reason),
  });
  const facts = {
    agent: "a",
    client: {},
    session: "s",
    threadId: "t",
    runId: "r",
    transport: "sse",
    policyHash: "h",
  };
  for (let count = 0; count < 5000; count += 1) {
    tracer
      .start({ ...facts, startedAt: 0 })
      .end({ state: "finished", forwarded: 1, blocked: 0, endedAt: 1 });
  }
  await tracer.close();
  expect(tracer.dropped).toBe(5000);
  expect(tracer.exported).toBe(0);
  expect(failures).toEqual(["status 500"]);
  collector.close();
});

test.each([
  "",
  "00-0-0-01",
  `ff-${TRACE}-${PARENT}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${"0".repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE}-${PARENT}-01-extra`,
])("%j is no traceparent", (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test("a traceparent parses to the value it was written from", () => {
  const header = `00-${TRACE}-${PARENT}-01`;
  const context = parseTraceparent(header);
  expect(context === undefined ? "" : formatTraceparent(context)).toBe(header);
});
