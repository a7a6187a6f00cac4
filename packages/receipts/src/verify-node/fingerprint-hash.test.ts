import { expect, test } from "vitest";
import { FINGERPRINT_WORDS } from "../verify/receipt-fingerprint.js";
import { createFingerprintHash, partOf, slotOf } from "./fingerprint-hash.js";

const COUNT = 50_000;

/** Fingerprints that differ in a few bits only, from a 16-bit number. */
const CHOSEN: readonly [string, (number: number) => readonly number[]][] = [
  ["whose words are multiples of 65,536", (number) => [number * 2 ** 16, number * 2 ** 16, 0, 0]],
  [
    "whose words are multiples of 2^24",
    (number) => [number * 2 ** 24, (number >>> 8) * 2 ** 24, 0, 0],
  ],
  ["that are one signature at many places of its group", (number) => [1, 2, 3, number]],
];

/** The longest probe sequence while filling tables to half of their capacity. */
function longestProbe(fingerprints: Uint32Array): number {
  const hash = createFingerprintHash();
  const parts = Array.from({ length: 256 }, (): number[] => []);
  for (let at = 0; at < fingerprints.length; at += FINGERPRINT_WORDS) {
    const one = hash(fingerprints, at);
    parts[partOf(one)]?.push(one);
  }
  return Math.max(...parts.map(longestOf));
}

function longestOf(hashes: readonly number[]): number {
  const slots = hashes.length * 2;
  const taken = new Set<number>();
  let longest = 0;
  for (const hash of hashes) {
    let steps = 1;
    let slot = slotOf(hash, slots);
    for (; taken.has(slot); steps += 1) slot = (slot + 1) % slots;
    taken.add(slot);
    longest = Math.max(longest, steps);
  }
  return longest;
}

for (const [which, words] of CHOSEN) {
  test(`fingerprints ${which} are found as fast as any others`, () => {
    const fingerprints = new Uint32Array(COUNT * FINGERPRINT_WORDS);
    for (let number = 0; number < COUNT; number += 1)
      fingerprints.set(words(number), number * FINGERPRINT_WORDS);
    // 21 to 36 in nine runs, and 196 when all fingerprints of a partition hash to one slot.
    expect(longestProbe(fingerprints)).toBeLessThan(100);
  });
}

test("slots are used from the first to the last, for any table size, and never beyond", () => {
  for (const slots of [1, 2, 3, 512, 2 ** 24, 2 ** 26]) {
    expect(slotOf(0xab00_0000, slots)).toBe(0);
    expect(slotOf(0xabff_ffff, slots)).toBe(slots - Math.max(1, slots / 2 ** 24));
  }
  expect(partOf(0xabff_ffff)).toBe(0xab);
});
