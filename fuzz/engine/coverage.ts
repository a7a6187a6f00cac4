import { Session } from "node:inspector";
import type { Profiler } from "node:inspector";

/** What ran since the last look. */
export type CoverageLook = {
  /** Whether code ran that no kept look saw running. */
  readonly isNew: boolean;
  /** Executions of all blocks: the work, without a clock. */
  readonly work: number;
};

/** Block coverage of V8, taken while the process runs. */
export type Coverage = {
  /** Reports what ran since the last look; with `keep`, later looks call it known. */
  look(keep: boolean): CoverageLook;
  /** Functions that ran, and how often a kept look found more of one. */
  readonly known: number;
  stop(): void;
};

/** From and to, in characters of the source. */
type Range = readonly [number, number];

/** Node's own modules and this engine say nothing about a parser. */
const NOT_COUNTED = /^node:|\/fuzz\/(?:engine\/(?!faulty)|dist\/main)/u;

/**
 * Starts counting. The session is synchronous: every answer is there when `post` returns.
 *
 * V8 counts the blocks of what it compiles from now on; of what ran before it knows the functions alone. So this comes
 * before the import of what is to be counted.
 */
export function startCoverage(): Coverage {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  /** By function, the parts of it that never ran. V8 merges blocks that ran equally often, but names each that did not run. */
  const idle = new Map<string, readonly Range[]>();
  let known = 0;
  return {
    get known() {
      return known;
    },
    look(keep) {
      let isNew = false;
      let work = 0;
      for (const { scriptId, url, functions } of takeCoverage(session)) {
        if (NOT_COUNTED.test(url)) continue;
        for (const { ranges } of functions) {
          const [whole] = ranges;
          if (whole === undefined || whole.count === 0) continue;
          for (const { count } of ranges) work += count;
          const name = `${scriptId}:${whole.startOffset}:${whole.endOffset}`;
          const before = idle.get(name);
          const now = ranges
            .filter(({ count }) => count === 0)
            .map(({ startOffset, endOffset }): Range => [startOffset, endOffset]);
          const still = before === undefined ? now : before.flatMap((range) => within(range, now));
          if (before !== undefined && lengthOf(still) === lengthOf(before)) continue;
          isNew = true;
          if (!keep) continue;
          idle.set(name, still);
          known++;
        }
      }
      return { isNew, work };
    },
    stop() {
      session.post("Profiler.stopPreciseCoverage");
      session.disconnect();
    },
  };
}

/** The parts of a range that lie in one of the others. */
function within([start, end]: Range, others: readonly Range[]): Range[] {
  return others
    .map(([from, to]): Range => [Math.max(start, from), Math.min(end, to)])
    .filter(([from, to]) => from < to);
}

function lengthOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
}

function takeCoverage(session: Session): Profiler.ScriptCoverage[] {
  let taken: Profiler.ScriptCoverage[] | undefined;
  session.post("Profiler.takePreciseCoverage", (error, { result }) => {
    if (error !== null) throw error;
    taken = result;
  });
  if (taken === undefined) throw new Error("the inspector did not answer at once");
  return taken;
}
