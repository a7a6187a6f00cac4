/** Maximum number of values of one label; the rest is counted together. */
const MAX_VALUES = 256;
/** The label value of the rest. */
export const OTHER = "other";

/**
 * Counts by up to two labels in plain numbers: one map look-up and one addition each.
 *
 * The first label's values are bounded in number, so that no policy, reload or peer can make the
 * page of metrics grow without limit. The second comes from a closed set.
 */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  /** Adds one, or `by`. */
  add(first: string, second = "", by = 1): void {
    let row = this.#counts.get(first);
    if (row === undefined) {
      row = this.#rowOf(first);
    }
    row.set(second, (row.get(second) ?? 0) + by);
  }

  /** All counts. */
  *entries(): Generator<readonly [first: string, second: string, count: number]> {
    for (const [first, row] of this.#counts) {
      for (const [second, count] of row) yield [first, second, count];
    }
  }

  /** The sum of all counts. */
  get total(): number {
    let sum = 0;
    for (const [, , count] of this.entries()) sum += count;
    return sum;
  }

  #rowOf(first: string): Map<string, number> {
    const name = this.#counts.size < MAX_VALUES ? first : OTHER;
    let row = this.#counts.get(name);
    if (row === undefined) {
      row = new Map();
      this.#counts.set(name, row);
    }
    return row;
  }
}

/** A histogram of durations for Prometheus. */
export class Histogram {
  readonly bounds: readonly number[];
  /** One per bound, and one for values above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    if (bounds.some((bound, index) => index > 0 && bound <= (bounds[index - 1] ?? 0))) {
      throw new TypeError("the bounds of a histogram must rise");
    }
    this.bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Adds one observation. */
  observe(value: number): void {
    let step = 0;
    while (step < this.bounds.length && value > (this.bounds[step] ?? 0)) step += 1;
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#sum += value;
  }

  /** The number of observations up to each bound, then in total. */
  cumulative(): number[] {
    let total = 0;
    return Array.from(this.#counts, (count) => (total += count));
  }

  /** The sum of all observations. */
  get sum(): number {
    return this.#sum;
  }
}
