import { createAdaptorServer } from "@hono/node-server";
import { createSseDecoder } from "@countersign/wire/sse";
import { Hono } from "hono";
import type { ControlEnv } from "../control/control-env.js";
import { once } from "node:events";
import { get } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import type { FeedItem } from "@countersign/core";
import { addFeedRoute, createFeedStream, MAX_WAITING_BYTES } from "../control/feed-stream.js";
import { Feed } from "./feed.js";

const item = (seq: number, words = ""): FeedItem => ({
  seq,
  receipt_id: `rcpt-${seq}`,
  type: "CUSTOM",
  direction: "outbound",
  agent_id: "support",
  session_id: "s1",
  thread_id: "t1",
  run_id: "r1",
  event_type: `notification ${words}`,
  classification: "alert",
  allowed: true,
  mode: "enforce",
  received_at: 1,
  forwarded: seq,
  blocked: 0,
});

const sequences = (bytes: Uint8Array | undefined): number[] =>
  createSseDecoder()
    .push(bytes ?? new Uint8Array())
    .map(({ data }) => (JSON.parse(data) as FeedItem).seq);

const publish = (feed: Feed, from: number, to: number, words?: string): void => {
  for (let seq = from; seq < to; seq += 1) feed.publish(item(seq, words));
};

test("decisions that are published together are written once, and every watcher gets the same bytes", async () => {
  const feed = new Feed();
  const readers = [createFeedStream(feed), createFeedStream(feed)].map((stream) =>
    stream.getReader(),
  );
  const reads = readers.map((reader) => reader.read());
  await vi.waitFor(() => expect(feed.watchers).toBe(2));
  publish(feed, 0, 100);
  const [first, second] = await Promise.all(reads);
  expect(sequences(first?.value)).toEqual(Array.from({ length: 100 }, (_, seq) => seq));
  expect(second?.value).toBe(first?.value);
});

test("a late watcher gets the last decisions, each once, also those of the pending batch", async () => {
  const feed = new Feed();
  const early = createFeedStream(feed).getReader();
  const first = early.read();
  await vi.waitFor(() => expect(feed.watchers).toBe(1));
  publish(feed, 0, 220);
  const late = createFeedStream(feed).getReader();
  expect(sequences((await late.read()).value)).toEqual(
    Array.from({ length: 200 }, (_, index) => index + 20),
  );
  expect(sequences((await first).value)).toHaveLength(220);
  const next = late.read();
  publish(feed, 220, 221);
  expect(sequences((await next).value)).toEqual([220]);
});

test("a watcher that does not read loses the oldest decisions, learns how many, and buffers no more than its limit", async () => {
  const feed = new Feed();
  const reader = createFeedStream(feed).getReader();
  const first = reader.read();
  publish(feed, 0, 1);
  await first;
  const words = "x".repeat(1000);
  publish(feed, 1, 5001, words);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const { value } = await reader.read();
  expect(value?.byteLength).toBeLessThan(MAX_WAITING_BYTES + 100);
  expect(value?.byteLength).toBeGreaterThan(MAX_WAITING_BYTES / 2);
  const [, lost] =
    /^: (\d+) decisions left out\n\n/u.exec(Buffer.from(value ?? []).toString()) ?? [];
  const seen = sequences(value);
  expect(seen).toEqual(
    Array.from({ length: seen.length }, (_, index) => 5001 - seen.length + index),
  );
  expect(Number(lost)).toBe(5000 - seen.length);
});

test("a watcher that disconnects, and a HEAD request, are not kept", async () => {
  const feed = new Feed();
  const app = new Hono<ControlEnv>();
  app.use("*", (context, next) => {
    const [name, role, method] = ["ann", "viewer", "token"] as const;
    context.set("operator", { name, role, method, address: undefined, isValid: () => true });
    return next();
  });
  addFeedRoute(app, feed);
  const server = createAdaptorServer({ fetch: app.fetch });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/events`;
  try {
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    expect(feed.watchers).toBe(0);
    const asked = get(url);
    // The response begins before the first decision.
    const [response] = (await once(asked, "response")) as [NodeJS.ReadableStream];
    await vi.waitFor(() => expect(feed.watchers).toBe(1));
    publish(feed, 0, 1);
    const [chunk] = (await once(response, "data")) as [Uint8Array];
    expect(sequences(chunk)).toEqual([0]);
    asked.destroy();
    await vi.waitFor(() => expect(feed.watchers).toBe(0));
  } finally {
    server.close();
  }
});

test("an idle feed sends heartbeats, decisions come between them, and a closed one sends none", async () => {
  const feed = new Feed();
  const reader = createFeedStream(feed, 10).getReader();
  const read = async (): Promise<string> => String(Buffer.from((await reader.read()).value ?? []));
  expect(await read()).toBe(": heartbeat\n\n");
  expect(await read()).toBe(": heartbeat\n\n");
  publish(feed, 7, 8);
  await expect.poll(read, { interval: 1 }).toContain('"seq":7');
  const waiting = reader.read();
  await reader.cancel();
  expect((await waiting).done).toBe(true);
});
