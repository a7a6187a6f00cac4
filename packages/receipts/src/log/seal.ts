import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { CountersignError, isCountersignError } from "@countersign/core";
import { HASH_BYTES } from "../merkle/hash.js";
import { frontierRoot } from "../merkle/tree.js";
import type { StoreHead } from "../store/store.js";

/** Authenticates the states of a log that its own writers created. */
export type LogSeal = {
  /** The seal of a tree. */
  of(size: number, root: Uint8Array): Uint8Array;
};

const NAME = "countersign.log-seal.v1";
const SIZE_BYTES = 8;

/**
 * Seals a log with a key that all its writers have and its store does not: HMAC-SHA-256 over the
 * origin, the size and the root of the tree after an append. The root covers the log from its first
 * entry, so one seal at the head authenticates every byte after the last checkpoint, members
 * outside the receipts included.
 */
export function createLogSeal(key: Uint8Array, origin: string): LogSeal {
  const secret = createSecretKey(key);
  const name = Buffer.from(`${NAME}\0${origin}\0`);
  const message = Buffer.concat([name, Buffer.alloc(SIZE_BYTES + HASH_BYTES)]);
  return {
    of(size, root) {
      message.writeBigUInt64BE(BigInt(size), name.length);
      message.set(root, name.length + SIZE_BYTES);
      return createHmac("sha256", secret).update(message).digest();
    },
  };
}

/** A known state of a log: signed, or written by this process. */
export type KnownHead = { readonly size: number; readonly root: Uint8Array };

/**
 * Rejects a head that no writer of the log created. Entries that a checkpoint covers need no seal.
 *
 * @throws CountersignError `ERR_LOG_FOREIGN_TAIL`
 */
export function assertSealed(seal: LogSeal, head: StoreHead, known?: KnownHead): void {
  const { size } = head;
  const root = frontierRoot(head);
  if (size === 0) return;
  if (known?.size === size && timingSafeEqual(known.root, root)) return;
  const expected = seal.of(size, root);
  if (head.seal?.length === expected.length && timingSafeEqual(head.seal, expected)) return;
  throw new CountersignError(
    "ERR_LOG_FOREIGN_TAIL",
    `the ${size} entries of the store do not end in the seal of this log: an entry after the last checkpoint was added, changed, moved or repeated by another writer; restore the store from a backup`,
    { size, covered: known?.size ?? 0 },
  );
}

/** Whether an operation failed because a head lacked the seal of this log. */
export function isUnsealed(error: unknown): boolean {
  return isCountersignError(error, "ERR_LOG_FOREIGN_TAIL");
}
