import { mkdirSync, writeFileSync } from "node:fs";
import { median, percentile } from "./statistics.js";

/** One variant: `run` works on the output of `prepare` and returns the number of operations. */
export type Case<Prepared = undefined> = {
  readonly name: string;
  /**
   * Creates new input outside the timing, so that no variant benefits from caches inside strings.
   */
  readonly prepare?: () => Prepared;
  readonly run: (prepared: Prepared) => number;
};

/** The measurement of one variant. */
export type Measured = {
  readonly name: string;
  readonly operationsPerSecond: number;
  /** Speed against the baseline in the same round: median, and the 10th and 90th percentile. */
  readonly ratio: number;
  readonly ratioLow: number;
  readonly ratioHigh: number;
};

/** Options of {@link compare}. */
export type CompareOptions = {
  readonly rounds?: number;
  /** Rounds run before measuring, for the optimising compiler. */
  readonly warmup?: number;
  /** The variant that ratios refer to; the first when absent. */
  readonly baseline?: string;
};

function speed<Prepared>(variant: Case<Prepared>): number {
  const prepared = variant.prepare?.() as Prepared;
  const start = process.hrtime.bigint();
  const operations = variant.run(prepared);
  return (operations * 1e9) / Number(process.hrtime.bigint() - start);
}

/**
 * Runs all variants in turn, round after round in one process, so that heat, neighbours and the
 * garbage collector affect each of them equally; every second round goes backwards.
 */
export function compare<Prepared = undefined>(
  cases: readonly Case<Prepared>[],
  options: CompareOptions = {},
): Measured[] {
  const { rounds = 30, warmup = 5 } = options;
  const speeds = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  for (let round = -warmup; round < rounds; round++) {
    for (const variant of round % 2 === 0 ? cases : cases.toReversed()) {
      const measured = speed(variant);
      if (round >= 0) speeds.get(variant.name)?.push(measured);
    }
  }
  return summarise(speeds, options.baseline ?? cases[0]?.name ?? "");
}

/** The speeds of the variants relative to the baseline, round by round. */
export function summarise(
  speeds: ReadonlyMap<string, readonly number[]>,
  baselineName: string,
): Measured[] {
  const baseline = speeds.get(baselineName);
  if (baseline === undefined) throw new TypeError(`no case named ${baselineName}`);
  return Array.from(speeds, ([name, own]) => {
    const ratios = own.map((value, round) => value / (baseline[round] ?? Number.NaN));
    return {
      name,
      operationsPerSecond: median(own),
      ratio: median(ratios),
      ratioLow: percentile(ratios, 0.1),
      ratioHigh: percentile(ratios, 0.9),
    };
  });
}

/** The measurements as a Markdown table. */
export function markdownTable(measured: readonly Measured[]): string {
  const rows = measured.map(
    ({ name, operationsPerSecond, ratio, ratioLow, ratioHigh }) =>
      `| ${name} | ${Math.round(operationsPerSecond).toLocaleString("en")} | ${ratio.toFixed(2)}× | ${ratioLow.toFixed(2)}–${ratioHigh.toFixed(2)}× |`,
  );
  return [
    "| variant | operations per second | median ratio | 10–90 % |",
    "|---|---:|---:|---:|",
    ...rows,
  ].join("\n");
}

/** Prints a report and stores it under `bench/results/`, as Markdown and as JSON. */
export function report(
  name: string,
  title: string,
  sections: Readonly<Record<string, readonly Measured[]>>,
): void {
  const system = `Node ${process.version}, ${process.platform} ${process.arch}`;
  const parts = Object.entries(sections).map(
    ([section, measured]) => `## ${section}\n\n${markdownTable(measured)}\n`,
  );
  const text = `# ${title}\n\n${system}; variants interleaved in one process.\n\n${parts.join("\n")}`;
  const folder = new URL("../results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${name}.md`, folder), text);
  const json = JSON.stringify({ name, title, system, sections }, undefined, 2);
  writeFileSync(new URL(`${name}.json`, folder), `${json}\n`);
  process.stdout.write(`${text}\n`);
}
