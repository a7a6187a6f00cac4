import { CountersignError, encodeHex } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import type { SignedGroup, SignRequest } from "./group.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A signing thread ended or failed while it held this group. */
    ERR_SIGN_WORKER: { reason: "crashed" | "failed" | "not-started" };
    /** The signer was closed before this group was signed. */
    ERR_SIGN_CLOSED: Record<string, never>;
  }
}

/** The error of every call after `close`. */
export function closedError(): CountersignError {
  return new CountersignError("ERR_SIGN_CLOSED", "the signer is closed", {});
}

/** Signs groups of receipts with one key. */
export type GroupSigner = {
  /** `ed25519:` and the public key in hex, as in receipts. */
  readonly kernelKey: string;
  /** How many groups to sign at the same time. */
  readonly parallel: number;
  /**
   * Signs a small group synchronously on the calling thread: a round trip to another thread costs
   * more than a signature, above all in latency. Undefined for every other group.
   */
  signSmall(request: SignRequest): SignedGroup | undefined;
  /** Signs one group. Rejects with `ERR_SIGN_*`; other groups are unaffected. */
  sign(request: SignRequest): Promise<SignedGroup>;
  /** Ends the threads; groups in progress are rejected. */
  close(): Promise<void>;
};

/** The `kernel_key` of a key. */
export function kernelKeyOf(key: Ed25519Key): string {
  return `ed25519:${encodeHex(key.publicKey)}`;
}

/** Maximum signatures and receipts of a small group: about a quarter of a millisecond of work. */
const SMALL_SIGNATURES = 2;
const SMALL_GROUP = 32;

/** Whether a group is too small to send to another thread. */
export function isSmall({ count, mode, singles }: SignRequest): boolean {
  return count <= SMALL_GROUP && (mode === "each" ? count : 1 + singles.length) <= SMALL_SIGNATURES;
}
