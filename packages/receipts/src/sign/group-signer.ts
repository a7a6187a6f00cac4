import { encodeHex } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import type { SignedGroup, SignRequest } from "./group.js";

/** Signs groups of receipts under one key, somewhere. */
export type GroupSigner = {
  /** `ed25519:` and the public key in hex, as receipts name it. */
  readonly kernelKey: string;
  /** How many groups are worth having under way at the same time. */
  readonly parallel: number;
  /** Signs one group. Rejects with `ERR_SIGN_*`; other groups are not touched by that. */
  sign(request: SignRequest): Promise<SignedGroup>;
  /** Ends the threads; groups under way are rejected. */
  close(): Promise<void>;
};

/** How receipts name a key. */
export function kernelKeyOf(key: Ed25519Key): string {
  return `ed25519:${encodeHex(key.publicKey)}`;
}
