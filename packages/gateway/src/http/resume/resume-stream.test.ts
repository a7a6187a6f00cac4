import { expect, test } from "vitest";
import { LightSignal } from "@countersign/core";
import type { AccessControl } from "../access-control.js";
import type { HttpResponse } from "../exchange.js";
import { ResumableStreams } from "./resumable-streams.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import type { Upstream } from "../../agent/upstream.js";
import { DEFAULT_LISTEN_LIMITS } from "../../base/limits.js";
import type { HttpRequest } from "../exchange.js";
import type { OpenedRun } from "../../runs/start-run.js";
import { resumeStream } from "./resume-stream.js";
import type { StreamReader } from "./stream-reader.js";

test("a client that disconnects while its credential is checked does not take over the stream", async () => {
  const resumableStreams = new ResumableStreams(DEFAULT_LISTEN_LIMITS);
  const first = new LightSignal();
  const stream = resumableStreams.create({ principal: "p", agent: "a", sessionId: "s" }, first);
  let hungUp = 0;
  const reader = { isSlow: false, begin: () => {}, write: () => {}, hangUp: () => (hungUp += 1) };
  const run = { threadId: "t", runId: "r", clientDialect: "1.0", client: {}, hasReceipts: false };
  stream?.open(reader as unknown as StreamReader, first, run as OpenedRun);
  const gone = new LightSignal();
  const authenticate = async () => {
    gone.abort();
    return { principal: { id: "p" } };
  };
  // The response must not be touched.
  await resumeStream(
    {} as GatewayContext,
    { resumableStreams, access: { authenticate } } as unknown as AccessControl,
    { target: { name: "a" } } as Upstream,
    {
      request: { headers: {}, rawHeaders: [], method: "GET" } as unknown as HttpRequest,
      response: {} as HttpResponse,
      url: new URL("http://gateway/ag-ui/stream"),
      gone,
    },
    `${stream?.key}.0`,
  );
  expect(hungUp).toBe(0);
  expect(stream?.isDisconnected).toBe(false);
});
