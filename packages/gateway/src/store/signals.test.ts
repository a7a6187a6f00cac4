import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { poll } from "./signals.js";
import type { SignalListener, Signals } from "./signals.js";

let listener: SignalListener | undefined;
const signals: Signals = {
  signal: () => {},
  listen: (_name, one) => {
    listener = one;
    return () => {
      listener = undefined;
    };
  },
};
const wake = { signals, name: "orders" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A read that takes this long; `reads` are its starts. */
function start(takesMs = 0, outcome = (): boolean => true) {
  const reads: number[] = [];
  const since = Date.now();
  let time = since;
  const polling = poll(
    async () => {
      reads.push(time - since);
      await new Promise((resolve) => setTimeout(resolve, takesMs));
      return outcome();
    },
    500,
    wake,
  );
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      await vi.advanceTimersByTimeAsync(10);
      time += 10;
    }
  };
  return { reads, polling, pass };
}

test("without signals it polls, with signals it reads at once and hardly polls", async () => {
  const { reads, polling, pass } = start();
  await pass(1100);
  expect(reads).toHaveLength(2);
  listener?.onListening(true);
  await pass(5000);
  expect(reads).toHaveLength(3);
  listener?.onSignal("");
  await pass(10);
  expect(reads).toHaveLength(4);
  listener?.onListening(false);
  await pass(1100);
  expect(reads).toHaveLength(7);
  await polling.stop();
  expect(listener).toBeUndefined();
});

test("a signal during a read causes one more read, however many come", async () => {
  const { reads, polling, pass } = start(100);
  listener?.onListening(true);
  await pass(20);
  for (let count = 0; count < 50; count += 1) listener?.onSignal("");
  await pass(1000);
  expect(reads).toHaveLength(2);
  void polling.stop();
  await pass(200);
  listener?.onSignal("");
  await pass(1000);
  expect(reads).toHaveLength(2);
});

test("after a failed read it polls, although signals arrive", async () => {
  let isDown = true;
  const { reads, polling, pass } = start(0, () => !isDown);
  listener?.onListening(true);
  await pass(1600);
  expect(reads.length).toBeGreaterThanOrEqual(3);
  isDown = false;
  await pass(600);
  const known = reads.length;
  await pass(5000);
  expect(reads).toHaveLength(known);
  await polling.stop();
});
