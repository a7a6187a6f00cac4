import type { Clock, MintId } from "../base/ports.js";
import { randomFillSync } from "node:crypto";

const PREFIXES = {
  event: "evt_",
  thread: "thread_",
  run: "run_",
  message: "msg_",
  toolCall: "call_",
  session: "sess_",
} as const;

/** Creates the gateway's own identifiers: a prefix for the kind, then a ULID. */
export function createMint(clock: Clock): MintId {
  const ulid = createUlid(() => clock.now());
  return (kind) => PREFIXES[kind] + ulid();
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RANDOM_DIGITS = 16;
/** The last digits of the random part, which count up; the rest stays as it was drawn. */
const COUNTED_DIGITS = 4;
const COUNTED = 32 ** COUNTED_DIGITS;
const DRAWN_DIGITS = RANDOM_DIGITS - COUNTED_DIGITS;
/** Drawn in one call: asking the system for sixteen bytes takes as long as for a thousand. */
const RANDOM_BYTES = 1024;
/** Two digits at a time: digit by digit took six times as long, and every event gets an identifier. */
const PAIRS: readonly string[] = Array.from(
  { length: 32 * 32 },
  (_, index) => `${ALPHABET[index >> 5]}${ALPHABET[index & 31]}`,
);

/**
 * Creates identifiers that sort by time (ULID): 48 bits of milliseconds, 80 bits of which 76 are
 * random.
 *
 * Within one millisecond the random part counts up, so that the index of a log grows at its end:
 * random keys cost a store three quarters of its speed.
 */
export function createUlid(now: () => number): () => string {
  const random = new Uint8Array(RANDOM_BYTES);
  let used = RANDOM_BYTES;
  let last = -1;
  let prefix = "";
  let counter = 0;
  return () => {
    const time = Math.max(now(), last);
    if (time === last && counter < COUNTED - 1) counter += 1;
    else {
      // Identifiers above the capacity of one millisecond continue in the next, ahead of the clock.
      last = time === last ? time + 1 : time;
      if (used + DRAWN_DIGITS + 2 > RANDOM_BYTES) {
        randomFillSync(random);
        used = 0;
      }
      const parts = [encodeTime(last)];
      for (let index = 0; index < DRAWN_DIGITS; index += 2)
        parts.push(PAIRS[tenBits(random, used + index)] ?? "");
      // Joined, not concatenated: a concatenated string keeps its pieces (160 bytes) until it is read.
      prefix = parts.join("");
      // 16 of 20 bits: the rest is left free for the count.
      used += DRAWN_DIGITS;
      counter = ((random[used] ?? 0) << 8) | (random[used + 1] ?? 0);
      used += 2;
    }
    return `${prefix}${PAIRS[counter >> 10]}${PAIRS[counter & 1023]}`;
  };
}

function tenBits(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) & 31) << 5) | ((bytes[at + 1] ?? 0) & 31);
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
