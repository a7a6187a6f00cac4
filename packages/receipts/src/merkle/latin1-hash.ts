import { hash } from "node:crypto";
import { HASH_BYTES } from "./hash.js";

declare const brand: unique symbol;

/**
 * A SHA-256 as a string of 32 Latin-1 characters, one per byte. It costs a third of a buffer to create,
 * to join and to pass on. The type keeps it apart from hex and from other text.
 */
export type Latin1Hash = string & { readonly [brand]: "Latin1Hash" };

const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/** SHA-256 of bytes. */
export function latin1Hash(bytes: Uint8Array): Latin1Hash {
  return hash("sha256", bytes, "binary") as Latin1Hash;
}

/** The hash of a tree node (RFC 6962) over two hashes. */
export function joinHashes(left: Latin1Hash, right: Latin1Hash): Latin1Hash {
  node.write(left + right, 1, "latin1");
  return latin1Hash(node);
}

/** The hash that starts at `at`. */
export function latin1HashAt(bytes: Buffer, at = 0): Latin1Hash {
  return bytes.toString("latin1", at, at + HASH_BYTES) as Latin1Hash;
}

/** The bytes of a hash. */
export function hashBytes(hash: Latin1Hash): Buffer {
  return Buffer.from(hash, "latin1");
}
