import { expect, test } from "vitest";
import { MEASURED, PLAN, readPage, render, shardOf, simulate, tables } from "./simulate-shards.mjs";

test("the tables of docs/explain/a-million-events.md are those of the simulation, and its inputs are on the page", () => {
  const page = readPage();
  expect(render(page)).toBe(page);
  for (const figure of [
    `${MEASURED.gatewayMicroseconds.live} µs`,
    `${MEASURED.gatewayMicroseconds.flood} µs`,
    `${MEASURED.serverMicroseconds} µs`,
    `${MEASURED.transactionMilliseconds} ms`,
    `${MEASURED.entryBytes.toLocaleString("en")} bytes`,
    MEASURED.verifiedPerSecond.toLocaleString("en"),
  ]) {
    expect(page).toContain(figure);
  }
  expect(tables()).toBe(tables());
});

test("one shard more moves about one thread in as many, and only to the new shard", () => {
  const threads = Array.from({ length: 5_000 }, (_, thread) => thread);
  const moved = threads.filter((thread) => shardOf(thread, 32) !== shardOf(thread, 33));
  expect(moved.length).toBeGreaterThan(100);
  expect(moved.length).toBeLessThan(220);
  expect(new Set(moved.map((thread) => shardOf(thread, 33)))).toEqual(new Set([32]));
});

test("a shard cannot take more than its commits can carry, and more shards wait less", () => {
  const { flush } = PLAN;
  // Entries of the largest transaction, over the time that it takes.
  const most =
    flush / (MEASURED.transactionMilliseconds + (flush * MEASURED.serverMicroseconds) / 1_000);
  const few = simulate(8);
  expect(few.heaviest / 1_000).toBeGreaterThan(most);
  expect(few.p99).toBe(Number.POSITIVE_INFINITY);
  const [some, many] = [simulate(24), simulate(64)];
  expect(some.heaviest / 1_000).toBeLessThan(most);
  expect(many.p99).toBeLessThan(some.p99);
  expect(some.heaviest).toBeGreaterThan(some.mean);
});
