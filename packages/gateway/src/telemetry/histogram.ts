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
