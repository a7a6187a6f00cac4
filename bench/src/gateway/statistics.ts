/** A distribution; `curve` holds the 101 percentiles from 0 to 100 where they are drawn. */
export type Quantiles = {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  readonly curve?: readonly number[];
};

/** Several measurements of one figure: the median, and their spread. */
export type Spread = { readonly middle: number; readonly low: number; readonly high: number };

/** Sorts and summarizes; nearest rank, so that every figure was actually measured. */
export function quantilesOf(values: Float64Array, hasCurve = false): Quantiles {
  const sorted = values.slice().sort();
  const at = (share: number): number =>
    round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN);
  let sum = 0;
  for (const value of sorted) sum += value;
  return {
    count: sorted.length,
    mean: round(sum / sorted.length),
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: at(1),
    ...(hasCurve ? { curve: Array.from({ length: 101 }, (_, percent) => at(percent / 100)) } : {}),
  };
}

/** The median of the repeats with their minimum and maximum. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)] ?? Number.NaN;
  const lower = sorted[Math.ceil(half) - 1] ?? Number.NaN;
  return {
    middle: (lower + upper) / 2,
    low: sorted[0] ?? Number.NaN,
    high: sorted.at(-1) ?? Number.NaN,
  };
}

/** A list of numbers that grows without boxing them. */
export class Samples {
  #values = new Float64Array(4096);
  #length = 0;

  add(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Float64Array(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  clear(): void {
    this.#length = 0;
  }

  quantiles(hasCurve = false): Quantiles {
    return quantilesOf(this.#values.subarray(0, this.#length), hasCurve);
  }
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
