import { generateKey, createSigner } from "@countersign/core/sign";
import { openLog } from "@countersign/receipts/log";
import type { ReceiptLog, ReceiptStore } from "@countersign/receipts/log";
import { createInThreadSigner } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { FeedItem } from "@countersign/core";
import { runClient } from "../../testing/client.js";
import { idsOf, inRun, text } from "../../testing/events.js";
import { createMemoryRecorder, startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { post, sseEvents } from "../../testing/transports.js";

let fixture: Fixture | undefined;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
  for (const close of closers.splice(0)) await close();
});

const readiness = async (): Promise<number> => (await fetch(`${fixture?.url}/readyz`)).status;

/** Sends half an answer, waits for the signal, then the rest. */
function inTwoHalves(): { script: FakeScript; go: () => void } {
  let go = (): void => {};
  const word = new Promise<void>((resolve) => {
    go = resolve;
  });
  const script: FakeScript = (request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const events = inRun(idsOf(request.body), [...text("a", "first"), ...text("b", "second")]);
      yield* events.slice(0, 4).map(sseFrame);
      await word;
      yield* events.slice(4).map(sseFrame);
    })(),
  });
  return { script, go };
}

test("a store failure ends the stream with an error, no event passes unrecorded, and the gateway serves again once the store works", async () => {
  const { script, go } = inTwoHalves();
  fixture = await startFixture(script);
  const { recorder } = fixture;
  const response = await post(`${fixture.url}/ag-ui/run`, { threadId: "t", runId: "r" });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let body = new TextDecoder().decode((await reader.read()).value);
  while (!body.includes("TEXT_MESSAGE_END")) {
    body += new TextDecoder().decode((await reader.read()).value);
  }
  const signed = recorder.drafts.length;
  recorder.fail = true;
  go();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    body += new TextDecoder().decode(part.value);
  }
  const events = sseEvents(body);
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "RECEIPTS_UNAVAILABLE" });
  expect(body).not.toContain("second");
  expect(recorder.drafts).toHaveLength(signed);
  // One receipt for the request and one for each event except the gateway's own error.
  expect(events.length - 1).toBe(signed - 1);
  await vi.waitFor(() => expect(fixture?.agentRequests[0]?.signal.aborted).toBe(true));
  expect(await readiness()).toBe(503);

  const refused = await post(`${fixture.url}/ag-ui/run`, { threadId: "t", runId: "r2" });
  expect(refused.status).toBe(503);
  expect(fixture.agentRequests).toHaveLength(1);

  recorder.fail = false;
  const again = await runClient(`${fixture.url}/agents/support`);
  expect(again.types.at(-1)).toBe("RUN_FINISHED");
  expect(await readiness()).toBe(200);
});

test("a gateway without traffic finds out by itself that the store works again", async () => {
  const memory = createMemoryRecorder();
  const probe = vi.fn(async () => {
    if (memory.fail) throw new Error("still down");
  });
  const now = performance.now();
  const passing = vi.spyOn(performance, "now").mockReturnValue(now);
  onTestFinished(() => passing.mockRestore());
  fixture = await startFixture(() => ({ pieces: [] }), {
    gateway: { recorder: { appendAll: (drafts) => memory.appendAll(drafts), probe } },
  });
  memory.fail = true;
  await post(`${fixture.url}/ag-ui/run`, { threadId: "t", runId: "r" });
  expect(await readiness()).toBe(503);
  expect(await readiness()).toBe(503);
  expect(probe).toHaveBeenCalledTimes(1);
  memory.fail = false;
  passing.mockReturnValue(now + 1000);
  expect(await readiness()).toBe(503);
  expect(await readiness()).toBe(200);
});

/** A real log on a real disk, whose appends can be made to fail. */
async function openBreakableLog(): Promise<{
  log: ReceiptLog;
  store: ReceiptStore;
  fault: { isOn: boolean };
}> {
  const directory = await mkdtemp(join(tmpdir(), "countersign-gateway-"));
  const real = await openSqliteStore({ directory });
  const fault = { isOn: false };
  const store: ReceiptStore = {
    ...real,
    append: (build, durability) =>
      fault.isOn
        ? Promise.reject(Object.assign(new Error("disk full"), { code: "ENOSPC" }))
        : real.append(build, durability),
  };
  const log = await openLog({
    store,
    signer: await createInThreadSigner(generateKey()),
    checkpointSigner: createSigner(generateKey()),
    origin: "gateway.test/log",
    checkpointInterval: 0,
  });
  closers.push(async () => {
    await log.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { log, store, fault };
}

test("with the real log: a full disk ends streams, an empty one serves again, and every delivered event is in the log", async () => {
  const { log, store, fault } = await openBreakableLog();
  fixture = await startFixture(
    (request) => ({ pieces: inRun(idsOf(request.body), text("m", "hi there")).map(sseFrame) }),
    { gateway: { recorder: log } },
  );
  const url = `${fixture.url}/agents/support`;
  const before = await runClient(url, { runId: "one", threadId: "one" });
  expect(before.types).toHaveLength(5);
  const entries = async (): Promise<number> =>
    (await store.query({ direction: "outbound", allowed: true })).entries.length;
  expect(await entries()).toBe(5);

  fault.isOn = true;
  const during = await runClient(url, { runId: "two", threadId: "two" });
  expect(during.error).toMatchObject({ status: 503 });
  expect(during.error?.message).toContain("ERR_STORE_WRITE");
  expect(await readiness()).toBe(503);
  expect(await entries()).toBe(5);

  fault.isOn = false;
  const after = await runClient(url, { runId: "three", threadId: "three" });
  expect(after.types.at(-1)).toBe("RUN_FINISHED");
  expect(await readiness()).toBe(200);
  expect(await entries()).toBe(10);
});

test("with the real log: the events of the feed are in the log, in the same order", async () => {
  const { log, store } = await openBreakableLog();
  fixture = await startFixture(
    (request) => ({ pieces: inRun(idsOf(request.body), text("m", "hi")).map(sseFrame) }),
    { gateway: { recorder: log } },
  );
  const seen: FeedItem[] = [];
  fixture.gateway.context.feed.listen((item) => void seen.push(item));
  await runClient(`${fixture.url}/agents/support`);
  await runClient(`${fixture.url}/agents/support`).catch(() => undefined);
  const { entries } = await store.query({});
  expect(seen.map(({ seq }) => seq)).toEqual(entries.map(({ seq }) => seq).toReversed());
  const requests = seen.filter(({ direction }) => direction === "inbound");
  expect(requests.map(({ type, allowed, rule }) => [type, allowed, rule])).toEqual([
    ["RUN_AGENT_INPUT", true, undefined],
    ["RUN_AGENT_INPUT", false, "ag_ui_request.history"],
  ]);
});
