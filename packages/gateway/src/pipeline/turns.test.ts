import { expect, test } from "vitest";
import { createTurns } from "./turns.js";

const pass = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test("work goes on undisturbed until its share of a pass is used up", async () => {
  let time = 0;
  const turns = createTurns(() => time);
  expect(turns.isSpent()).toBe(false);
  time = 4;
  expect(turns.isSpent()).toBe(false);
  time = 5;
  expect(turns.isSpent()).toBe(true);
  await pass();
  expect(turns.isSpent()).toBe(false);
});

test("of those in line one goes on in each pass, in order, and whoever comes later stands behind them", async () => {
  const turns = createTurns(() => 0);
  const went: number[] = [];
  for (let stream = 0; stream < 4; stream += 1) void turns.next().then(() => went.push(stream));
  expect(turns.isSpent()).toBe(true);
  const seen: number[] = [];
  for (let count = 0; count < 5; count += 1) {
    await pass();
    seen.push(went.length);
  }
  expect(went).toEqual([0, 1, 2, 3]);
  // Never two in one pass: whatever else is waiting gets its turn between them.
  for (const [index, count] of seen.entries()) expect(count).toBeLessThanOrEqual(index + 1);
});

test("while a pass has time left, whoever has done its work passes on to the next in line", async () => {
  const clock = { time: 0 };
  const turns = createTurns(() => clock.time);
  turns.isSpent();
  clock.time = 10;
  const order: string[] = [];
  const waiting = ["a", "b", "c"].map(async (name) => {
    await turns.next();
    order.push(name);
    // The third finds the share used up and waits for another pass.
    if (name === "b") clock.time += 10;
    turns.passOn();
  });
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.resolve();
  expect(order.slice(0, 2)).toEqual(["a", "b"]);
  await Promise.all(waiting);
  expect(order).toEqual(["a", "b", "c"]);
});
