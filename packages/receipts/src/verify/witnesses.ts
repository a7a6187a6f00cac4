import { encodeHex } from "@countersign/core";
import { isLogKey } from "../checkpoint/verify-checkpoint.js";
import type { OpenedCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { isFuture } from "../note/verify-note.js";
import type { Cosignature } from "../note/verify-note.js";
import type { NoteKey } from "../note/vkey.js";
import { NOTE_COSIGNATURE, parseVkey } from "../note/vkey.js";
import type { Check } from "./result.js";
import { failed, held } from "./result.js";

/** The cosignatures that a verifier demands. */
export type WitnessPolicy = {
  /** vkeys of the witnesses the verifier trusts (type 0x04). */
  readonly keys: readonly string[];
  /** How many different keys of the list must have cosigned; at least 1. */
  readonly threshold: number;
  /** Cosignatures that are older do not count; without it age does not matter. */
  readonly maxAgeSeconds?: number;
  /** Milliseconds since the epoch; default: the system clock. */
  readonly now?: number;
};

/** The trusted cosignatures of a checkpoint, one per key. */
export type WitnessCount = {
  readonly cosignatures: readonly Cosignature[];
  /** Cosignatures of trusted keys that do not count, with the reason. */
  readonly rejected: readonly string[];
};

/** The keys of a policy; rejects one that cannot be met. */
export function parseWitnessKeys(policy: WitnessPolicy | undefined): NoteKey[] {
  if (policy === undefined) return [];
  const keys = policy.keys.map(parseVkey);
  if (keys.some(({ type }) => type !== NOTE_COSIGNATURE)) {
    throw new TypeError("a witness key is a vkey of a cosigner (its key begins with the byte 4)");
  }
  const distinct = new Set(keys.map(({ publicKey }) => encodeHex(publicKey)));
  const { threshold } = policy;
  if (!Number.isSafeInteger(threshold) || threshold < 1 || threshold > distinct.size) {
    throw new TypeError(`a threshold is 1 to the number of witness keys (${distinct.size})`);
  }
  return keys;
}

/** Counts the trusted cosignatures of a checkpoint that was opened with the policy's keys. */
export function countWitnesses(
  { note, origin }: OpenedCheckpoint,
  { maxAgeSeconds, now = Date.now() }: Pick<WitnessPolicy, "maxAgeSeconds" | "now">,
): WitnessCount {
  const signed = note.signers.filter((key) => isLogKey(key, { origin }));
  const logKeys = new Set(signed.map(({ publicKey }) => encodeHex(publicKey)));
  const counted = new Map<string, Cosignature>();
  const rejected: string[] = [];
  for (const cosignature of note.cosignatures) {
    const { key, time } = cosignature;
    const id = encodeHex(key.publicKey);
    const age = BigInt(Math.floor(now / 1000)) - time;
    // One key under two names is one witness: the signature does not cover the name.
    if (logKeys.has(id)) rejected.push(`${key.name} has the key of the log itself`);
    else if (isFuture(cosignature, now)) rejected.push(`${key.name} signed a time in the future`);
    else if (maxAgeSeconds !== undefined && age > BigInt(maxAgeSeconds)) {
      rejected.push(`${key.name} signed at ${timeText(time)}, which is too old`);
    } else if (time >= (counted.get(id)?.time ?? 0n)) counted.set(id, cosignature);
  }
  return { cosignatures: [...counted.values()], rejected };
}

/** Checks that enough trusted witnesses cosigned a checkpoint. */
export function checkWitnesses(checkpoint: OpenedCheckpoint, policy: WitnessPolicy): Check {
  const { cosignatures, rejected } = countWitnesses(checkpoint, policy);
  const isEnough = cosignatures.length >= policy.threshold;
  const names = cosignatures.map(({ key, time }) => `${key.name} at ${timeText(time)}`);
  const parts = [
    `${cosignatures.length} of ${policy.keys.length} trusted, ${policy.threshold} needed`,
    ...names,
    ...rejected,
  ];
  const detail = `size ${checkpoint.size}: ${parts.join("; ")}`;
  return isEnough ? held("witnesses", detail) : failed("witnesses", detail);
}

/** A time of a cosignature for people. */
function timeText(time: bigint): string {
  const milliseconds = Number(time) * 1000;
  if (milliseconds > 8.64e15) return `second ${time}`;
  return new Date(milliseconds).toISOString().replace(".000Z", "Z");
}
