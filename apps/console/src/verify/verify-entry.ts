import { isCountersignError } from "@countersign/core";
import { verifyProof } from "@countersign/receipts/verify";
import type { Check, Verification, WitnessPolicy } from "@countersign/receipts/verify";
import type { Entry } from "../api/responses.js";

/** An entry of the log, and its inclusion proof. */
export type Evidence = {
  /** The exact bytes that were hashed. */
  readonly bytes: Uint8Array;
  readonly text: string;
  /** `undefined` when the bytes are not an entry. */
  readonly entry: Entry | undefined;
  readonly proof: string;
  /** The key that the gateway itself names. */
  readonly presentedKey: string;
  /** The keys of the witnesses that the gateway names, where the checkpoint of the proof is cosigned. */
  readonly witnesses?: WitnessPolicy;
  readonly size: number;
};

/** A verification, or that this browser cannot make one. */
export type Outcome =
  | { readonly kind: "checked"; readonly verification: Verification; readonly isPinned: boolean }
  | { readonly kind: "impossible"; readonly reason: string };

/**
 * Verifies signature, place and checkpoint with the code of this page.
 *
 * @param pinned the log's key that the operator trusts; without one the gateway's own is used, which proves less
 */
export async function verifyEvidence(
  evidence: Evidence,
  pinned: string | undefined,
): Promise<Outcome> {
  const { presentedKey, witnesses } = evidence;
  const trust = {
    ...(pinned === undefined ? { presentedKey } : { trustedLogs: [pinned] }),
    ...(witnesses === undefined ? {} : { witnesses }),
  };
  try {
    const verification = await verifyProof(evidence.proof, evidence.bytes, trust);
    return { kind: "checked", verification, isPinned: pinned !== undefined };
  } catch (error) {
    if (isCountersignError(error, "ERR_NOTE_KEY")) {
      return { kind: "impossible", reason: "The pinned key is not a log's key: name+id+base64." };
    }
    return {
      kind: "impossible",
      reason:
        "This browser does not offer Ed25519 on this page. Open the console over https or on 127.0.0.1, or use a current browser.",
    };
  }
}

/** The checks that were performed; skipped ones are left out. */
export function performedChecks({ checks }: Verification): Check[] {
  return checks.filter(({ status }) => status !== "skipped");
}
