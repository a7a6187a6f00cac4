import { createCipheriv, createDecipheriv, hkdfSync, randomFillSync } from "node:crypto";
import { CountersignError } from "@countersign/core";
import "../base/errors.js";
import type { EvidenceKey } from "../keys/evidence-keys.js";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCES_AT_ONCE = 256;
/** Entries under one derived key: far below the number of random nonces that AES-GCM allows. */
const ENTRIES_PER_KEY = 65_536;

/** The entry that a copy belongs to. All of it is authenticated. */
export type SealedPlace = { readonly seq: number; readonly payloadHash: string };

/** Encrypts copies of one log, and decrypts them. */
export type EvidenceSeal = {
  seal(key: EvidenceKey, place: SealedPlace, text: string): Uint8Array;
  /**
   * @throws ERR_EVIDENCE_KEY if no key has that name, ERR_EVIDENCE_DAMAGED if the bytes are not those that were sealed
   * for this place
   */
  open(keys: readonly EvidenceKey[], keyId: string, place: SealedPlace, bytes: Uint8Array): string;
};

/**
 * Creates the seal of a log: AES-256-GCM with a random nonce for each copy, under a key that HKDF-SHA-256 derives from
 * the secret, the origin of the log and the number of the entry. The associated data names the entry and the hash of
 * its payload, so that a copy decrypts at its own entry only.
 */
export function createEvidenceSeal(origin: string): EvidenceSeal {
  let last: { secret: Uint8Array; group: number; key: Uint8Array } | undefined;
  // Random bytes are drawn for many nonces at once; each is used for one copy.
  const nonces = new Uint8Array(NONCE_BYTES * NONCES_AT_ONCE);
  let nonceAt = nonces.length;
  const keyFor = ({ secret }: EvidenceKey, seq: number): Uint8Array => {
    const group = Math.floor(seq / ENTRIES_PER_KEY);
    if (last?.secret !== secret || last.group !== group) {
      const info = `countersign.evidence.v1 ${group}`;
      last = {
        secret,
        group,
        key: new Uint8Array(hkdfSync("sha256", secret, origin, info, KEY_BYTES)),
      };
    }
    return last.key;
  };
  const dataOf = ({ seq, payloadHash }: SealedPlace): Buffer =>
    Buffer.from(`countersign.evidence.v1\n${origin}\n${seq}\n${payloadHash}`);
  return {
    seal: (key, place, text) => {
      if (nonceAt === nonces.length) {
        randomFillSync(nonces);
        nonceAt = 0;
      }
      const nonce = nonces.subarray(nonceAt, (nonceAt += NONCE_BYTES));
      const cipher = createCipheriv(CIPHER, keyFor(key, place.seq), nonce).setAAD(dataOf(place));
      const sealed = cipher.update(text, "utf8");
      cipher.final();
      // A copy in memory of its own: it is handed to another thread.
      const bytes = new Uint8Array(NONCE_BYTES + TAG_BYTES + sealed.length);
      bytes.set(nonce);
      bytes.set(cipher.getAuthTag(), NONCE_BYTES);
      bytes.set(sealed, NONCE_BYTES + TAG_BYTES);
      return bytes;
    },
    open: (keys, keyId, place, bytes) => {
      const key = keys.find(({ id }) => id === keyId);
      if (key === undefined) throw missingKey(place.seq, keyId);
      try {
        const nonce = bytes.subarray(0, NONCE_BYTES);
        const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
        const decipher = createDecipheriv(CIPHER, keyFor(key, place.seq), nonce)
          .setAAD(dataOf(place))
          .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
      } catch {
        throw damaged(place.seq, "it does not decrypt as the copy of this entry");
      }
    },
  };
}

/** The error for a copy that was changed, or belongs to another entry. */
export function damaged(seq: number, why: string): CountersignError<"ERR_EVIDENCE_DAMAGED"> {
  return new CountersignError(
    "ERR_EVIDENCE_DAMAGED",
    `the kept payload of entry ${seq} was changed: ${why}. Fix: find out who can write to the evidence store; the log itself is verified with countersign receipts verify`,
    { seq },
  );
}

function missingKey(seq: number, keyId: string): CountersignError<"ERR_EVIDENCE_KEY"> {
  return new CountersignError(
    "ERR_EVIDENCE_KEY",
    `the kept payload of entry ${seq} is encrypted with the key ${keyId}, which the key directory does not have. Fix: copy evidence.key from the gateway that wrote it, as evidence.key or evidence-NAME.key`,
    { seq, key: keyId },
  );
}
