import type { ClientClock } from "../store/clock.js";

/** A clock that moves only when told, and then rings what is due. */
export type FakeTime = ClientClock & {
  /** Moves on, and lets promises settle before and after. */
  advance(milliseconds: number): Promise<void>;
  /** Delays that were asked for, in order. */
  readonly asked: number[];
};

/** Makes a clock that stands at the start of 2026. */
export function createFakeTime(): FakeTime {
  let now = Date.UTC(2026, 0, 1);
  const timers = new Set<{ at: number; callback: () => void }>();
  const asked: number[] = [];
  return {
    asked,
    now: () => now,
    after(milliseconds, callback) {
      asked.push(milliseconds);
      const timer = { at: now + milliseconds, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(milliseconds) {
      await settle();
      now += milliseconds;
      for (const timer of [...timers].sort((left, right) => left.at - right.at)) {
        if (timer.at > now || !timers.delete(timer)) continue;
        timer.callback();
        await settle();
      }
    },
  };
}

/** Lets everything that only waits for promises happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
