import { CountersignError, encodeHex } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import { RECEIPTS_PER_ROOT } from "./batch-signatures.js";
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

/** Maximum signatures of a small group whose receipts are signed each. */
const MAX_EACH = 2;
/** Maximum receipts and signatures of a small group that shares roots: a millisecond of work. */
const MAX_BATCH = 128;
const MAX_BATCH_SIGNATURES = 8;

/**
 * Whether a group is too small to send to another thread. In `batch` mode a message to a thread and
 * its answer cost as much processor time as the signatures that the thread makes
 * (docs/decisions/2026-11-19-fewer-threads-per-event.md).
 */
export function isSmall({ count, mode, singles }: SignRequest): boolean {
  if (mode === "each") return count <= MAX_EACH;
  const roots = Math.ceil(count / RECEIPTS_PER_ROOT);
  return count <= MAX_BATCH && roots + singles.length <= MAX_BATCH_SIGNATURES;
}
