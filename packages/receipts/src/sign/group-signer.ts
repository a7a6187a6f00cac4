import { encodeHex } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import type { SignedGroup, SignRequest } from "./group.js";

/** Signs groups of receipts under one key, somewhere. */
export type GroupSigner = {
  /** `ed25519:` and the public key in hex, as receipts name it. */
  readonly kernelKey: string;
  /** How many groups are worth having under way at the same time. */
  readonly parallel: number;
  /**
   * Signs a group at once, on the calling thread, if it is small: a message to another thread and back costs
   * more than a signature, above all in time. Undefined for every other group.
   */
  signSmall(request: SignRequest): SignedGroup | undefined;
  /** Signs one group. Rejects with `ERR_SIGN_*`; other groups are not touched by that. */
  sign(request: SignRequest): Promise<SignedGroup>;
  /** Ends the threads; groups under way are rejected. */
  close(): Promise<void>;
};

/** How receipts name a key. */
export function kernelKeyOf(key: Ed25519Key): string {
  return `ed25519:${encodeHex(key.publicKey)}`;
}

/** Signatures and receipts up to which a group is small: about a quarter of a millisecond of work. */
const SMALL_SIGNATURES = 2;
const SMALL_GROUP = 32;

/** Whether a group is worth no message to another thread. */
export function isSmall({ count, mode, singles }: SignRequest): boolean {
  return count <= SMALL_GROUP && (mode === "each" ? count : 1 + singles.length) <= SMALL_SIGNATURES;
}
