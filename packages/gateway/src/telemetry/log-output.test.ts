import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createJournal } from "./journal.js";
import { createLogOutput } from "./log-output.js";

/** Like standard output, it stays open after an error. */
function createTarget() {
  const lines: string[] = [];
  const state = { failure: undefined as Error | undefined, isHeld: false };
  let release = (): void => {};
  const stream = new Writable({
    autoDestroy: false,
    emitClose: false,
    write: (chunk: Buffer, _encoding, done) => {
      if (state.failure !== undefined) return done(state.failure);
      const take = (): void => {
        lines.push(String(chunk));
        done();
      };
      if (state.isHeld) release = take;
      else take();
    },
  });
  return { stream, lines, state, release: () => release() };
}

test("an output that fails loses its line, which is counted, and nothing else", async () => {
  const { stream, state } = createTarget();
  const output = createLogOutput(stream);
  state.failure = new Error("ENOSPC");
  output.write("one\n");
  expect(await output.flush(1000)).toBe(true);
  expect(output.dropped).toBe(1);
});

test("a reader that stops holds a mebibyte of lines, in order; later lines are counted", async () => {
  const target = createTarget();
  target.state.isHeld = true;
  const output = createLogOutput(target.stream);
  const line = (number: number): string => `${String(number).padEnd(1023)}\n`;
  for (let number = 0; number < 1024; number += 1) output.write(line(number));
  expect(output.dropped).toBe(0);
  output.write(line(1024));
  output.write("x");
  expect(output.dropped).toBe(2);
  expect(await output.flush(1)).toBe(false);
  target.state.isHeld = false;
  target.release();
  expect(await output.flush(5000)).toBe(true);
  expect(target.lines).toEqual(Array.from({ length: 1024 }, (_, number) => line(number)));
  output.write("y\n");
  expect(await output.flush(5000)).toBe(true);
  expect(target.lines.at(-1)).toBe("y\n");
});

test("several journals on one output add one listener, and count their own lost lines", async () => {
  const { stream, state } = createTarget();
  const journals = [1, 2, 3].map(() => createJournal({ destination: stream }));
  expect(stream.listenerCount("error")).toBe(1);
  state.failure = new Error("EPIPE");
  journals[0]?.info({}, "hello");
  await journals[0]?.flush(1000);
  expect(journals.map(({ dropped }) => dropped)).toEqual([1, 0, 0]);
});
