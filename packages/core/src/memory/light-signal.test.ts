import { expect, test } from "vitest";
import { LightSignal } from "./light-signal.js";

test("listeners are called once, in order; removed and late ones are not", () => {
  const signal = new LightSignal();
  const told: string[] = [];
  const left = (): void => void told.push("left");
  const unknown = (): void => void told.push("unknown");
  const twice = (): void => void told.push("twice");
  signal.addEventListener("abort", left);
  signal.addEventListener("abort", twice);
  signal.addEventListener("abort", twice);
  signal.addEventListener("abort", () => void told.push("last"));
  signal.removeEventListener("abort", left);
  signal.removeEventListener("abort", unknown);
  signal.abort("first reason");
  signal.abort("second reason");
  signal.addEventListener("abort", () => void told.push("late"));
  expect(told).toEqual(["twice", "last"]);
  expect([signal.aborted, signal.reason]).toEqual([true, "first reason"]);
});

test("a listener may be removed while others are called", () => {
  const signal = new LightSignal();
  const told: string[] = [];
  const first = (): void => {
    told.push("first");
    signal.removeEventListener("abort", first);
  };
  signal.addEventListener("abort", first);
  signal.addEventListener("abort", () => void told.push("second"));
  signal.abort();
  expect(told).toEqual(["first", "second"]);
});
