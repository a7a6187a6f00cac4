/** Numbers that look random and come again for the same seed. */
export type Random = {
  /** A whole number from 0 up to, not including, the bound. */
  below(bound: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** A generator of its own for one case, so that cases repeat one by one. */
  forCase(index: number): Random;
};

/** Mulberry32: small, and good enough to shuffle mutations. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    forCase: (index) => createRandom(Math.imul(seed, 31) ^ Math.imul(index + 1, 0x9e37_79b1)),
  };
}
