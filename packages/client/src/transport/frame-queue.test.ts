import { expect, test } from "vitest";
import { createFrameQueue } from "./frame-queue.js";
import type { Batch } from "./transport.js";

const frame = (json: string): Batch => [{ json }];

async function drain(queue: ReturnType<typeof createFrameQueue>): Promise<Batch[]> {
  const batches: Batch[] = [];
  for await (const batch of queue.read()) batches.push(batch);
  return batches;
}

test("what was pushed before the reader came arrives in one batch, in order", async () => {
  const queue = createFrameQueue(100);
  queue.push(frame("a"));
  queue.push(frame("b"));
  queue.end();
  expect(await drain(queue)).toEqual([[{ json: "a" }, { json: "b" }]]);
});

test("an empty push is a sign of life", async () => {
  const queue = createFrameQueue(100);
  queue.push([]);
  queue.end();
  expect(await drain(queue)).toEqual([[]]);
});

test("an error arrives after everything that came before it", async () => {
  const queue = createFrameQueue(100);
  queue.push(frame("a"));
  queue.end(new Error("torn"));
  const reader = queue.read();
  expect(await reader.next()).toMatchObject({ value: [{ json: "a" }] });
  await expect(reader.next()).rejects.toThrow("torn");
});

test("nothing is taken after the end", async () => {
  const queue = createFrameQueue(100);
  queue.end();
  queue.push(frame("a"));
  expect(await drain(queue)).toEqual([]);
});

test("the bound holds at once, one over, and drip-fed; reading gives room back", async () => {
  const atOnce = createFrameQueue(10);
  atOnce.push(frame("x".repeat(10)));
  atOnce.end();
  expect(await drain(atOnce)).toHaveLength(1);

  const oneOver = createFrameQueue(10);
  oneOver.push(frame("x".repeat(11)));
  await expect(drain(oneOver)).rejects.toMatchObject({ code: "ERR_LIMIT_EXCEEDED" });

  const dripping = createFrameQueue(10);
  for (let count = 0; count < 11; count++) dripping.push(frame("x"));
  await expect(drain(dripping)).rejects.toMatchObject({ code: "ERR_LIMIT_EXCEEDED" });

  const read = createFrameQueue(10);
  const reader = read.read();
  for (let count = 0; count < 30; count++) {
    read.push(frame("x".repeat(10)));
    expect(await reader.next()).toMatchObject({ done: false });
  }
});
