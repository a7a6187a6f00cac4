import { summarise } from "./harness.js";
import type { Measured } from "./harness.js";

/** One variant of asynchronous work; returns the number of operations. */
export type AsyncCase<Prepared> = {
  readonly name: string;
  readonly prepare: () => Prepared;
  readonly run: (prepared: Prepared) => Promise<number>;
};

const ROUNDS = 7;
const WARMUP = 2;

/**
 * Runs the variants in turn, every second round backwards; ratios are against the first in the same
 * round. It counts processor time: a page waits for frames and for the network, and waiting costs
 * nothing.
 */
export async function compareAsync<Prepared>(
  cases: readonly AsyncCase<Prepared>[],
): Promise<Measured[]> {
  const speeds = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  for (let round = -WARMUP; round < ROUNDS; round++) {
    for (const { name, prepare, run } of round % 2 === 0 ? cases : cases.toReversed()) {
      const prepared = prepare();
      const start = process.cpuUsage();
      const operations = await run(prepared);
      const { user, system } = process.cpuUsage(start);
      const speed = (operations * 1e6) / (user + system);
      if (round >= 0) speeds.get(name)?.push(speed);
    }
  }
  return summarise(speeds, cases[0]?.name ?? "");
}
