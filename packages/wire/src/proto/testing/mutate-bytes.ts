/** A small repeatable generator of 32-bit integers (xorshift), so that a failing input can be found again. */
function createDraw(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Damages bytes in the ways that protobuf readers differ on: flips, cuts, repeats, foreign fields. */
export function* mutateBytes(
  bytes: Uint8Array,
  seed: number,
  count: number,
): Generator<Uint8Array> {
  const draw = createDraw(seed);
  for (let round = 0; round < count; round += 1) {
    let damaged = Uint8Array.from(bytes);
    for (let change = 0; change <= draw(3); change += 1) damaged = damageOnce(damaged, draw);
    yield damaged;
  }
}

function damageOnce(bytes: Uint8Array, draw: (below: number) => number): Uint8Array<ArrayBuffer> {
  const at = draw(bytes.length + 1);
  const size = 1 + draw(8);
  const before = bytes.subarray(0, at);
  switch (draw(7)) {
    case 0:
      return withByte(bytes, at, (bytes[at] ?? 0) ^ (1 << draw(8)));
    case 1:
      return withByte(bytes, at, draw(256));
    case 2:
      return join(before, bytes.subarray(at + size));
    case 3:
      return join(before, bytes.subarray(at, at + size), bytes.subarray(at));
    case 4:
      return join(bytes, bytes);
    case 5:
      return join(
        before,
        Uint8Array.from({ length: size }, () => draw(256)),
        bytes.subarray(at),
      );
    default:
      return Uint8Array.from(before);
  }
}

function withByte(bytes: Uint8Array, at: number, byte: number): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(bytes);
  if (at < copy.length) copy[at] = byte;
  return copy;
}

function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let position = 0;
  for (const part of parts) {
    joined.set(part, position);
    position += part.length;
  }
  return joined;
}
