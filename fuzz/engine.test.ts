import { expect, test } from "vitest";
import { startCoverage } from "./engine/coverage.js";
import { fuzz, shrink } from "./engine/loop.js";
import type { FuzzTarget } from "./engine/target.js";

test("coverage leads the loop to a fault that one mutation does not reach", async () => {
  const coverage = startCoverage();
  try {
    const { FAULTY } = await import("./engine/faulty-target.js");
    const options = { seed: 1, inputs: [new TextEncoder().encode("abc")] };
    const isOver = (inputs: number): boolean => inputs > 12_000;
    const blind = await fuzz(FAULTY, { ...options, isOver });
    expect(blind.findings).toEqual([]);
    const { findings } = await fuzz(FAULTY, { ...options, isOver, coverage });
    expect(findings).toHaveLength(1);
    const smallest = await shrink(FAULTY, findings[0]!);
    expect(new TextDecoder().decode(smallest)).toMatch(/^Y{5}Z$/u);
  } finally {
    coverage.stop();
  }
});

test("a seed determines a run", async () => {
  const inputs: string[][] = [[], []];
  for (const seen of inputs) {
    const target: FuzzTarget = {
      name: "seen",
      property: "none",
      covers: [],
      seeds: ["abc"],
      run: (input) => void seen.push(String(input)),
    };
    await fuzz(target, {
      seed: 7,
      inputs: [new TextEncoder().encode("abc")],
      isOver: (count) => count > 300,
    });
  }
  expect(inputs[0]).toEqual(inputs[1]);
  expect(new Set(inputs[0]).size).toBeGreaterThan(200);
});
