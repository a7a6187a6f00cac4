import type { Random } from "../../fuzz/engine/random.js";

type ByteChange = (bytes: Buffer, at: number, random: Random) => Buffer;

const put = (bytes: Buffer, at: number, ...parts: Uint8Array[]): Buffer =>
  Buffer.concat([bytes.subarray(0, at), ...parts, bytes.subarray(at)]);

const CHANGES: readonly ByteChange[] = [
  (bytes, at, random) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  (bytes, at, random) => put(bytes, at, Buffer.of(random.below(256))),
  (bytes, at, random) =>
    Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(8))]),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at, random) => put(bytes, at, bytes.subarray(at, at + random.below(200))),
  (bytes, at, random) =>
    put(
      bytes,
      at,
      Buffer.from(random.pick(["\r", "\n", "\r\n", "\n\n", "\r\r", "\0", "\ufeff", ":"])),
    ),
  // Not UTF-8: a lone continuation, an overlong slash, a surrogate, beyond the last code point.
  (bytes, at, random) =>
    put(
      bytes,
      at,
      Buffer.from(random.pick(["80", "c0af", "eda080", "f4908080", "ff", "e282"]), "hex"),
    ),
];

/** Damages bytes in one to three places, without a thought for what they mean. */
export function damage(bytes: Buffer, random: Random): Buffer {
  let damaged = bytes;
  for (let count = random.pick([1, 1, 1, 2, 3]); count > 0; count -= 1) {
    damaged = random.pick(CHANGES)(damaged, random.below(damaged.length + 1), random);
  }
  return damaged;
}

/** Cuts bytes into a few writes, at places nobody would choose. */
export function cut(bytes: Buffer, random: Random): Buffer[] {
  const places = Array.from({ length: random.below(4) }, () => random.below(bytes.length + 1));
  const sorted = [0, ...places.sort((left, right) => left - right), bytes.length];
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}
