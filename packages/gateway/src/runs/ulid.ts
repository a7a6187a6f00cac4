import { randomFillSync } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RANDOM_DIGITS = 16;

/**
 * Makes identifiers that sort by time (ULID): 48 bits of milliseconds, 80 random bits.
 *
 * Within one millisecond the random part counts up, so that the index of a log grows at its end:
 * random keys cost a store three quarters of its speed.
 */
export function createUlid(now: () => number): () => string {
  const digits = new Uint8Array(RANDOM_DIGITS);
  let last = -1;
  let prefix = "";
  return () => {
    const time = Math.max(now(), last);
    if (time === last) countUp(digits);
    else {
      last = time;
      prefix = encodeTime(time);
      randomFillSync(digits);
      for (let index = 0; index < RANDOM_DIGITS; index++) digits[index] = (digits[index] ?? 0) & 31;
    }
    let text = prefix;
    for (const digit of digits) text += ALPHABET[digit];
    return text;
  };
}

function countUp(digits: Uint8Array): void {
  for (let index = RANDOM_DIGITS - 1; index >= 0; index--) {
    const digit = digits[index] ?? 0;
    if (digit < 31) {
      digits[index] = digit + 1;
      return;
    }
    digits[index] = 0;
  }
}

function encodeTime(time: number): string {
  let rest = time;
  let text = "";
  for (let index = 0; index < 10; index++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
