import { expect, test } from "vitest";
import { join } from "node:path";
import { findFault, fuzz } from "./engine/loop.js";
import { seedsOf } from "./seeds.js";
import { TARGETS } from "./targets/index.js";

const folder = join(import.meta.dirname, "seeds");

/** Mutated inputs of a short run; the seeds come first. */
const INPUTS = 192;

test.each(TARGETS.map((target) => [target.name, target] as const))(
  "%s: the property holds for the seeds and a short run",
  async (_name, target) => {
    const inputs = seedsOf(target, folder);
    for (const input of inputs) expect(await findFault(target, input)).toBeUndefined();
    const report = await fuzz(target, {
      seed: 20_261_117,
      inputs,
      isOver: (count) => count >= inputs.length + INPUTS,
    });
    expect(report.findings.map(({ reason, input }) => [reason, String(input)])).toEqual([]);
  },
  60_000,
);
