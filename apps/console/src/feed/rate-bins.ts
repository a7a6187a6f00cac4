import type { Verdict } from "../api/verdict.js";

/** Seconds that a chart shows. */
export const WINDOW_SECONDS = 120;

/** Columns for a chart: the second, and what came in it. */
export type RateColumns = {
  readonly seconds: number[];
  readonly allowed: number[];
  readonly noted: number[];
  readonly blocked: number[];
};

type Bin = { [Kind in Verdict]: number };

/** Decisions by the second, for the last two minutes. */
export class RateBins {
  readonly #bins = new Map<number, Bin>();

  /** Counts one decision at a time in milliseconds. */
  add(verdict: Verdict, at: number): void {
    const second = Math.floor(at / 1000);
    let bin = this.#bins.get(second);
    if (bin === undefined) {
      bin = { allowed: 0, noted: 0, blocked: 0 };
      this.#bins.set(second, bin);
      this.#forget(second - 2 * WINDOW_SECONDS);
    }
    bin[verdict] += 1;
  }

  /** The window that ends with the last whole second before `now`; a second without decisions is a zero, not a hole. */
  columns(now: number): RateColumns {
    const end = Math.floor(now / 1000);
    const seconds = Array.from({ length: WINDOW_SECONDS }, (_, at) => end - WINDOW_SECONDS + at);
    const of = (verdict: Verdict): number[] =>
      seconds.map((second) => this.#bins.get(second)?.[verdict] ?? 0);
    return { seconds, allowed: of("allowed"), noted: of("noted"), blocked: of("blocked") };
  }

  #forget(before: number): void {
    for (const second of this.#bins.keys()) if (second < before) this.#bins.delete(second);
  }
}
