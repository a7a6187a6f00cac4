import { HASH_BYTES } from "../merkle/hash.js";
import type { Frontier } from "../merkle/tree.js";
import { corrupt } from "../store/failure.js";
import type { StoreHead } from "../store/store.js";

/** The concatenated hashes of a frontier, largest subtree first. */
export function encodeFrontier(frontier: Frontier): Buffer {
  return Buffer.concat(frontier.hashes);
}

/** The head in the row of a log; `seal` is missing in tables of an older version. */
export type HeadRow = {
  readonly size: string;
  readonly frontier: Buffer;
  readonly seal?: Buffer | null;
};

/** The head of a log from its row. */
export function headOfRow({ size, frontier, seal }: HeadRow): StoreHead {
  return { ...decodeFrontier(Number(size), frontier), seal: seal ?? undefined };
}

/** Decodes a frontier; a wrong length for its size is damage. */
function decodeFrontier(size: number, bytes: Buffer): Frontier {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  if (bytes.length !== ones * HASH_BYTES) throw corrupt(size, "frontier does not fit the size");
  const hashes = Array.from({ length: ones }, (_, index) =>
    bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );
  return { size, hashes };
}
