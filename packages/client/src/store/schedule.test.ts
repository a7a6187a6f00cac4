import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { onNextFrame } from "./schedule.js";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A browser that draws when told. */
function browser(): { draw: () => void } {
  const frames = new Map<number, () => void>();
  let number = 0;
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => {
    frames.set((number += 1), callback);
    return number;
  });
  vi.stubGlobal("cancelAnimationFrame", (frame: number) => frames.delete(frame));
  return {
    draw: () => {
      const due = [...frames.values()];
      frames.clear();
      for (const callback of due) callback();
    },
  };
}

test("in a browser the flush comes with the next drawn frame, once", () => {
  const { draw } = browser();
  const flush = vi.fn();
  onNextFrame(flush);
  expect(flush).not.toHaveBeenCalled();
  draw();
  vi.advanceTimersByTime(1000);
  expect(flush).toHaveBeenCalledTimes(1);
});

test("a hidden page, which draws no frames, is flushed all the same, once", () => {
  const { draw } = browser();
  const flush = vi.fn();
  onNextFrame(flush);
  vi.advanceTimersByTime(250);
  draw();
  expect(flush).toHaveBeenCalledTimes(1);
});

test("elsewhere the flush comes after a frame's time", () => {
  const flush = vi.fn();
  onNextFrame(flush);
  vi.advanceTimersByTime(15);
  expect(flush).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(flush).toHaveBeenCalledTimes(1);
});

test("a flush that was called off never comes", () => {
  const flush = vi.fn();
  onNextFrame(flush)();
  const { draw } = browser();
  onNextFrame(flush)();
  draw();
  vi.advanceTimersByTime(1000);
  expect(flush).not.toHaveBeenCalled();
});
