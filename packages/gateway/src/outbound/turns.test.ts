import { expect, test } from "vitest";
import { createTurns } from "./turns.js";

const pass = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test("work queued in one pass of the loop runs together, in order, and not before", async () => {
  const turns = createTurns(() => 0);
  const went: number[] = [];
  for (let stream = 0; stream < 4; stream += 1) turns.ask(() => went.push(stream));
  await Promise.resolve();
  expect(went).toEqual([]);
  await pass();
  expect(went).toEqual([0, 1, 2, 3]);
});

test("past its share of a pass the queue waits for the next pass and keeps its order", async () => {
  let time = 0;
  const turns = createTurns(() => time);
  const went: string[] = [];
  const work = (name: string) => () => {
    went.push(name);
    time += 3;
  };
  for (const name of ["a", "b", "c", "d", "e"]) turns.ask(work(name));
  const passes: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    await pass();
    passes.push(went.join(""));
    turns.ask(work(String(count)));
  }
  await pass();
  expect(passes).toEqual(["ab", "abcd", "abcde0"]);
  expect(went.join("")).toBe("abcde012");
});

test("work that is queued again while it runs comes after the waiting work, in the next pass", async () => {
  const turns = createTurns(() => 0);
  const went: string[] = [];
  turns.ask(() => {
    went.push("first");
    turns.ask(() => went.push("first again"));
  });
  turns.ask(() => went.push("second"));
  await pass();
  expect(went).toEqual(["first", "second"]);
  await pass();
  expect(went).toEqual(["first", "second", "first again"]);
});

test("one long piece of work is one pass, and the loop runs between passes", async () => {
  let time = 0;
  const turns = createTurns(() => time);
  let passes = 0;
  let works = 0;
  for (let stream = 0; stream < 3; stream += 1) {
    turns.ask(() => {
      works += 1;
      time += 100;
    });
  }
  while (works < 3) {
    await pass();
    passes += 1;
    expect(works).toBeLessThanOrEqual(passes);
  }
});
