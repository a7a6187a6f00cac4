import { SmallMap } from "@countersign/core";

/**
 * Names remembered across the runs of one stream, oldest forgotten first.
 *
 * A socket may carry runs for days, so this memory forgets instead of failing: what it serves
 * (a reused runId, a result for a call of an earlier run) is then missed or reported, never fatal.
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

/** What one remembered name costs: its characters and the entry around it. */
export function charge(name: string): number {
  return name.length + 64;
}
