import { SmallMap } from "@countersign/core";

/**
 * Names kept across the runs of one stream; the oldest is dropped first.
 *
 * A socket may stay open for days, so this memory drops names instead of failing. A dropped name
 * means that a reused runId is missed, or that a result for an earlier run's call is reported.
 * Neither is fatal.
 */
export class RecentNames<Value> {
  #values: SmallMap<string, Value> | undefined;
  readonly #limit: number;
  #size = 0;

  /** `limit` is in characters of the names, with a flat charge per entry. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  has(name: string): boolean {
    return this.#values?.has(name) === true;
  }

  get(name: string): Value | undefined {
    return this.#values?.get(name);
  }

  set(name: string, value: Value): void {
    const values = (this.#values ??= new SmallMap());
    if (!values.has(name)) this.#size += charge(name);
    values.set(name, value);
    if (this.#size <= this.#limit) return;
    for (const oldest of values.keys()) {
      values.delete(oldest);
      this.#size -= charge(oldest);
      if (this.#size <= this.#limit) return;
    }
  }
}

/** The cost of one name: its characters and its map entry. */
export function charge(name: string): number {
  return name.length + 64;
}
