import { expect, test } from "vitest";
import type { Door } from "../access-control.js";
import type { HttpAnswer, HttpSink } from "../http-sink.js";
import { LastingStreams } from "./resumable-streams.js";
import type { Surroundings } from "../../runs/gateway-context.js";
import { LightSignal } from "../../base/signal.js";
import type { Upstream } from "../../agent/upstream.js";
import { DEFAULT_LISTEN_LIMITS } from "../../base/limits.js";
import type { HttpQuestion } from "../run-route.js";
import { takeUpStream } from "./resume-stream.js";

test("a client that gave up while its credential was looked at takes the stream from nobody", async () => {
  const lasting = new LastingStreams(DEFAULT_LISTEN_LIMITS);
  const first = new LightSignal();
  const stream = lasting.create({ principal: "p", agent: "a", sessionId: "s" }, first);
  let hungUp = 0;
  const sink = { isSlow: false, write: () => {}, hangUp: () => (hungUp += 1) };
  stream?.open(sink as unknown as HttpSink, first);
  const gone = new LightSignal();
  const authenticate = async () => {
    gone.abort();
    return { principal: { id: "p" } };
  };
  // Its answer is not even touched.
  await takeUpStream(
    {} as Surroundings,
    { lasting, access: { authenticate } } as unknown as Door,
    { target: { name: "a" } } as Upstream,
    {
      question: { headers: {}, rawHeaders: [], method: "GET" } as unknown as HttpQuestion,
      answer: {} as HttpAnswer,
      url: new URL("http://gateway/ag-ui/stream"),
      gone,
    },
    `${stream?.key}.0`,
  );
  expect(hungUp).toBe(0);
  expect(stream?.isAway).toBe(false);
});
