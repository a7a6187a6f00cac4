import { expect, test } from "vitest";
import { assertWithin, DEFAULT_LIMITS, resolveLimits } from "./limits.js";

test("an amount at the limit passes, one over is a coded error that names the limit", () => {
  expect(() => assertWithin("maxLanes", 4, 4)).not.toThrow();
  expect(() => assertWithin("maxLanes", 5, 4, 17)).toThrow(
    expect.objectContaining({
      code: "ERR_LIMIT_EXCEEDED",
      facts: { limit: "maxLanes", allowed: 4, offset: 17 },
    }),
  );
});

test("limits not given come from the defaults, which cannot be changed", () => {
  expect(resolveLimits()).toBe(DEFAULT_LIMITS);
  expect(resolveLimits({ maxDepth: 3 })).toEqual({ ...DEFAULT_LIMITS, maxDepth: 3 });
  expect(Object.isFrozen(DEFAULT_LIMITS)).toBe(true);
  const resolved = resolveLimits({ maxDepth: 3 });
  expect(Object.isFrozen(resolved)).toBe(true);
  expect(resolveLimits(resolved)).toBe(resolved);
});

test("an unknown limit or one that is not a positive integer is the caller's mistake", () => {
  for (const value of [0, -1, 1.5, Number.NaN, Infinity]) {
    expect(() => resolveLimits({ maxLanes: value })).toThrow(TypeError);
  }
  expect(() => resolveLimits({ maxLane: 1 } as object)).toThrow(TypeError);
});
