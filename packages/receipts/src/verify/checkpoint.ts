import { verifyEd25519 } from "@countersign/core/verify";
import type { OpenedCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { isLogKey, openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { verifyConsistency } from "../merkle/verify-proof.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import type { NoteKey } from "../note/vkey.js";
import { encodeVkey, parseVkey, sameNoteKey } from "../note/vkey.js";
import type { Check, SignerTrust, Verification } from "./result.js";
import { conclude, failed, failedBy, held, skipped } from "./result.js";
import type { WitnessPolicy } from "./witnesses.js";
import { checkWitnesses, parseWitnessKeys } from "./witnesses.js";

/** Options of {@link verifyCheckpoint}. */
export type CheckpointOptions = {
  /** vkeys of logs (and witnesses) the verifier trusts. */
  trustedLogs?: readonly string[];
  /** The vkey that came with the log: enough to check validity, never enough for trust. */
  presentedKey?: string;
  /** An earlier checkpoint (signed note) of the same log, and the consistency proof from it. */
  older?: { checkpoint: string; proof: readonly Uint8Array[] };
  /** The witnesses the verifier trusts, and how many of them must have cosigned. */
  witnesses?: WitnessPolicy;
  verifySignature?: SignatureVerifier;
};

/** A verification with the checkpoint, if its signature is valid. */
export type CheckpointVerification = Verification & { readonly checkpoint?: OpenedCheckpoint };

type Outcome = { checks: Check[]; signers: SignerTrust[]; checkpoint?: OpenedCheckpoint };

async function checkOlder(
  newer: OpenedCheckpoint,
  keys: readonly NoteKey[],
  options: CheckpointOptions,
): Promise<Check> {
  const { older, verifySignature = verifyEd25519 } = options;
  const id = "checkpoint-consistency";
  if (older === undefined) return skipped(id, "no older checkpoint was given");
  try {
    const before = await openCheckpoint(older.checkpoint, keys, verifySignature);
    if (before.origin !== newer.origin) return failed(id, "the older one is of another log");
    if (before.size > newer.size) {
      const why = "the log was rolled back, or this copy is older than that checkpoint";
      return failed(id, `the older one has ${before.size} entries, this one ${newer.size}: ${why}`);
    }
    return verifyConsistency(before, newer, older.proof)
      ? held(id, `grown from ${before.size} to ${newer.size} entries`)
      : failed(id, `the tree of ${before.size} entries is not the start of this one`);
  } catch (error) {
    return failedBy(id, error);
  }
}

/** Checks one signed checkpoint, without the conclusion. */
export async function checkCheckpoint(text: string, options: CheckpointOptions): Promise<Outcome> {
  const { trustedLogs, presentedKey, verifySignature = verifyEd25519 } = options;
  const trusted = (trustedLogs ?? []).map(parseVkey);
  try {
    const presented = presentedKey === undefined ? [] : [parseVkey(presentedKey)];
    const further = presented.filter((key) => !trusted.some((known) => sameNoteKey(known, key)));
    const keys = [...trusted, ...further, ...parseWitnessKeys(options.witnesses)];
    const checkpoint = await openCheckpoint(text, keys, verifySignature);
    const signers = checkpoint.note.signers
      .filter((key) => isLogKey(key, checkpoint))
      .map((key): SignerTrust => {
        const isTrusted = trustedLogs === undefined ? null : trusted.includes(key);
        return { key: encodeVkey(key), role: "log", trusted: isTrusted };
      });
    const checks = [
      held("checkpoint-format", `${checkpoint.size} entries of ${checkpoint.origin}`),
      held("checkpoint-signature", `signed by ${checkpoint.origin}`),
      await checkOlder(checkpoint, keys, options),
    ];
    if (options.witnesses !== undefined) checks.push(checkWitnesses(checkpoint, options.witnesses));
    return { checks, signers, checkpoint };
  } catch (error) {
    const check = failedBy("checkpoint-signature", error);
    const isFormat =
      check.code === "ERR_NOTE_MALFORMED" || check.code === "ERR_CHECKPOINT_MALFORMED";
    return {
      checks: isFormat ? [failedBy("checkpoint-format", error)] : [check],
      signers: [],
    };
  }
}

/** Verifies a signed checkpoint, and its consistency with an older one if given. */
export async function verifyCheckpoint(
  text: string,
  options: CheckpointOptions = {},
): Promise<CheckpointVerification> {
  const { checks, signers, checkpoint } = await checkCheckpoint(text, options);
  const result = conclude(checks, signers);
  return checkpoint === undefined ? result : { ...result, checkpoint };
}
