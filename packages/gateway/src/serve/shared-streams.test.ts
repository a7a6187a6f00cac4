import { startRedis, startTornLine } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AUDIENCE } from "../testing/identity.js";
import { readScrape, valueOf } from "../testing/scrape.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundAllTests } from "../testing/shared-database.js";
import { faultsOf, pairUp } from "../testing/shown.js";
import { readStream } from "../testing/stream-reader.js";
import type { ReadFrame, ReadOptions, StreamReader } from "../testing/stream-reader.js";
import { createTalker, INPUT, textOf, typesOf } from "../testing/talker.js";
import type { Talker } from "../testing/talker.js";

const WAIT = { timeout: 10_000, interval: 20 };

const shared = aroundAllTests();

let redis: RunningRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Two gateways of a log of their own. */
async function startTwo(
  log: string,
  talker: Talker,
  firstRedis = redis.url,
): Promise<[Served, Served]> {
  const start = async (beside?: Served): Promise<Served> => {
    const url = beside === undefined ? firstRedis : redis.url;
    const served = await startServed(talker.script, {
      config: `receipts: { store: "${shared.database.url}", origin: streams.example/${log} }
cluster: { redis: "${url}" }
access:
  mode: jwt
  jwt: { issuer: "${shared.identity.issuer}", audience: ${AUDIENCE}, jwks: "${shared.identity.jwksUrl.href}", clock_tolerance: 0 }
`,
      ...(beside === undefined ? {} : { beside }),
    });
    shared.open.push(served);
    return served;
  };
  const first = await start();
  return [first, await start(first)];
}

/** Starts a run, or resumes it after a frame. */
function ask(
  { running }: Served,
  token: string,
  { last, ...options }: ReadOptions & { last?: ReadFrame | undefined } = {},
): Promise<StreamReader> {
  return readStream(`${running.dataUrl}/agents/support?reconnect=1&receipts=1&session=s1`, {
    body: INPUT,
    ...options,
    headers: {
      authorization: `Bearer ${token}`,
      "countersign-receipts": "1",
      ...(last?.id === undefined ? {} : { "last-event-id": last.id }),
    },
  });
}

async function untilAway({ running }: Served): Promise<void> {
  const { openRuns } = running.gateway.context.telemetry;
  await expect.poll(() => [...openRuns].every(({ sink }) => sink.isDisconnected), WAIT).toBe(true);
}

test("a stream resumes at the other gateway with its receipts, for its own principal; the holder stays internal", async () => {
  const talker = createTalker(3);
  const [first, second] = await startTwo("whole", talker);
  const token = await shared.identity.token("alice");
  talker.upTo(1);
  const began = await ask(first, token, { dropAfter: 6 });
  await began.closed;
  const last = began.frames.at(-1);
  expect((await ask(second, await shared.identity.token("bob"), { last })).status).toBe(410);
  const passed = await ask(second, token, { last });
  expect(passed.status).toBe(200);
  talker.upTo(3);
  await passed.closed;
  const events = [...began.frames, ...passed.frames].map(({ data }) => JSON.parse(data) as object);
  const shown = pairUp(events);
  expect(shown.map(({ event }) => event.type)).toHaveLength(7);
  const receipt = shown[0]?.receipts[0] as { kernel_key: string } | undefined;
  const run = { threadId: "t1", runId: "r1" };
  expect(await faultsOf(shown, run, receipt?.kernel_key ?? "")).toEqual([]);
  expect([first.agentRequests.length, second.agentRequests.length]).toEqual([1, 0]);
  const metrics = readScrape(await (await second.control("/metrics")).text());
  expect(valueOf(metrics, "countersign_remote_resumes_total", { result: "taken" })).toBe(1);
  expect(valueOf(metrics, "countersign_remote_resumes_total", { result: "gone" })).toBe(1);
  const page = readScrape(await (await first.control("/metrics")).text());
  expect(valueOf(page, "countersign_stream_copies")).toBe(1);
  expect(valueOf(page, "countersign_stream_copies_incomplete")).toBe(0);
}, 60_000);

test("a stream that resumed at another gateway ends with its token, and with a stop", async () => {
  const talker = createTalker(3);
  const [first, second] = await startTwo("ends", talker);
  const exp = Math.floor(Date.now() / 1000) + 4;
  const token = await shared.identity.token("alice", { exp });
  talker.upTo(1);
  const began = await ask(first, token, { dropAfter: 6 });
  await began.closed;
  const passed = await ask(second, token, { last: began.frames.at(-1) });
  await passed.closed;
  expect(JSON.parse(passed.frames.at(-1)?.data ?? "")).toMatchObject({ code: "ACCESS_EXPIRED" });
  expect(Date.now() / 1000).toBeGreaterThanOrEqual(exp);

  const fresh = await shared.identity.token("alice");
  const messages = [{ id: "u9", role: "user", content: "again" }];
  const body = { ...INPUT, threadId: "t2", runId: "r2", messages };
  const next = await ask(first, fresh, { body, dropAfter: 6 });
  await next.closed;
  const held = await ask(second, fresh, { last: next.frames.at(-1) });
  expect(held.status).toBe(200);
  const stopped = await fetch(`${second.running.dataUrl}/ag-ui/stop?session=s1`, {
    method: "POST",
    headers: { authorization: `Bearer ${fresh}` },
    body: JSON.stringify({ runId: "r2" }),
  });
  expect(await stopped.json()).toEqual({ stopped: ["r2"] });
  await held.closed;
  expect(JSON.parse(held.frames.at(-1)?.data ?? "")).toMatchObject({ code: "RUN_STOPPED" });
}, 60_000);

test("a stopping gateway keeps its runs until they end, and not their last events: those are in Redis", async () => {
  const talker = createTalker(3);
  const [first, second] = await startTwo("drain", talker);
  const token = await shared.identity.token("alice");
  talker.upTo(1);
  const began = await ask(first, token, { dropAfter: 6 });
  await began.closed;
  const drained = first.running.drain();
  // It refuses new runs, and its streams are resumed at the other.
  await expect
    .poll(async () => (await ask(first, token, { body: { ...INPUT, runId: "r9" } })).status, WAIT)
    .toBe(503);
  const passed = await ask(second, token, { last: began.frames.at(-1), dropAfter: 2 });
  talker.upTo(2);
  await passed.closed;
  expect(textOf(passed.frames)).toBe("1 ");
  await untilAway(first);
  talker.upTo(3);
  expect(await drained).toEqual({ stopped: 0 });
  const rest = await ask(second, token, { last: passed.frames.at(-1) });
  await rest.closed;
  expect(textOf(rest.frames)).toBe("2 ");
  expect(typesOf(rest.frames).at(-1)).toBe("RUN_FINISHED");
}, 60_000);

test("a run that a stopping gateway ends tells so at the other gateway, with its receipts", async () => {
  const talker = createTalker(3);
  const [first, second] = await startTwo("closed", talker);
  const token = await shared.identity.token("alice");
  talker.upTo(1);
  const began = await ask(first, token, { dropAfter: 6 });
  await began.closed;
  const passed = await ask(second, token, { last: began.frames.at(-1) });
  expect(passed.status).toBe(200);
  await first.running.close();
  await passed.closed;
  expect(JSON.parse(passed.frames.at(-1)?.data ?? "")).toMatchObject({ code: "RUN_STOPPED" });
  expect(passed.isWhole()).toBe(true);
}, 60_000);

test("without the database a stream resumes at another gateway, and its end is signed for before it is told", async () => {
  const talker = createTalker(4);
  const [first, second] = await startTwo("away", talker);
  const token = await shared.identity.token("alice");
  talker.upTo(1);
  const began = await ask(first, token, { dropAfter: 6 });
  await began.closed;
  await shared.database.crash();
  const known = await ask(second, token, { last: began.frames.at(-3), dropAfter: 2 });
  expect(known.status).toBe(200);
  await known.closed;
  expect(known.frames).toEqual(began.frames.slice(-2));
  await shared.database.start();
}, 60_000);

test("the error of a run whose gateway is gone has a receipt that continues those of its stream", async () => {
  const line = await startTornLine(redis.port);
  const talker = createTalker(4);
  const [first, second] = await startTwo("lost", talker, line.url.replace("http", "redis"));
  const token = await shared.identity.token("alice");
  talker.upTo(1);
  const began = await ask(first, token, { dropAfter: 6 });
  await began.closed;
  const { sharedStreams } = first.running.gateway.context.telemetry;
  await expect.poll(() => sharedStreams.incomplete, WAIT).toBe(0);
  // For Redis the gateway is gone.
  await line.stop();
  const passed = await ask(second, token, { last: began.frames.at(-1) });
  await passed.closed;
  expect(typesOf(passed.frames)).toEqual(["CUSTOM", "RUN_ERROR"]);
  expect(JSON.parse(passed.frames.at(-1)?.data ?? "")).toMatchObject({ code: "GATEWAY_LOST" });
  const events = [...began.frames, ...passed.frames].map(({ data }) => JSON.parse(data) as object);
  const shown = pairUp(events);
  expect(shown.map(({ event }) => event.type)).toHaveLength(4);
  const receipt = shown[0]?.receipts[0] as { kernel_key: string } | undefined;
  const run = { threadId: "t1", runId: "r1" };
  expect(await faultsOf(shown, run, receipt?.kernel_key ?? "")).toEqual([]);
}, 60_000);
