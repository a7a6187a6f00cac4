import * as fc from "fast-check";
import { expect, test } from "vitest";
import { countedLimits } from "../testing/counted-limits.js";
import { commands, overrun, rates, World } from "../testing/simulated-gateways.js";
import { BUDGETS } from "./token-budgets.js";
import { VELOCITY } from "./velocity-caps.js";

const RUNS = Number(process.env["VELOCITY_RUNS"] ?? 300);

test("for any delays, losses, late reads, crashes and clock drift, no window holds more than the limit over all gateways", async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(countedLimits(), rates, commands(), async (limit, clocks, steps) => {
      const world = new World(VELOCITY, limit, clocks);
      for (const step of steps) await world.run(step);
      most = Math.max(most, world.used.length);
      expect(overrun(world.used, limit)).toBeUndefined();
    }),
    { numRuns: RUNS },
  );
  // The network does deliver: a bound that is never approached would prove nothing.
  expect(most).toBeGreaterThan(15);
});

test("for any delays, losses, late reads and crashes, no more events of a token are used than it allows", async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      rates,
      commands(),
      async (capacity, clocks, steps) => {
        const windowMs = Number.POSITIVE_INFINITY;
        const limit = { kind: "total", capacity, windowMs, expiresAt: 2e9 } as const;
        const world = new World(BUDGETS, limit, clocks);
        for (const step of steps) await world.run(step);
        most = Math.max(most, world.used.length);
        expect(world.used.length).toBeLessThanOrEqual(capacity);
      },
    ),
    { numRuns: RUNS },
  );
  expect(most).toBeGreaterThan(15);
});
