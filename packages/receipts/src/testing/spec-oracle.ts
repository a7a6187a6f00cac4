// Written from RFC 6962, C2SP signed-note and C2SP tlog-cosignature alone, with Node's crypto and none
// of our code: the second opinion of the tests about trees and cosignatures.
import { createHash, createPublicKey, verify } from "node:crypto";

const sha256 = (...parts: Buffer[]): Buffer =>
  createHash("sha256").update(Buffer.concat(parts)).digest();
const split = (count: number): number => 2 ** Math.floor(Math.log2(count - 1));

/** MTH(D[n]) of RFC 6962 section 2.1. */
export function specRoot(entries: readonly string[]): Buffer {
  if (entries.length === 0) return sha256();
  if (entries.length === 1) return sha256(Buffer.from([0]), Buffer.from(entries[0] ?? ""));
  const k = split(entries.length);
  return sha256(Buffer.from([1]), specRoot(entries.slice(0, k)), specRoot(entries.slice(k)));
}

function subProof(m: number, entries: readonly string[], isWhole: boolean): Buffer[] {
  const n = entries.length;
  if (m === n) return isWhole ? [] : [specRoot(entries)];
  const k = split(n);
  return m <= k
    ? [...subProof(m, entries.slice(0, k), isWhole), specRoot(entries.slice(k))]
    : [...subProof(m - k, entries.slice(k), false), specRoot(entries.slice(0, k))];
}

/** PROOF(m, D[n]) of RFC 6962 section 2.1.2. */
export function specConsistency(m: number, entries: readonly string[]): Buffer[] {
  return m === 0 || m === entries.length ? [] : subProof(m, entries, true);
}

const SPKI = Buffer.from("302a300506032b6570032100", "hex");

function ed25519(key: Buffer, message: Buffer, signature: Buffer): boolean {
  const publicKey = createPublicKey({
    key: Buffer.concat([SPKI, key]),
    format: "der",
    type: "spki",
  });
  return verify(null, message, publicKey, signature);
}

/**
 * The times of the valid cosignatures of a vkey (type 0x04) in a signed note; a line with its name
 * and id that does not verify throws.
 */
export function specCosignatureTimes(note: string, vkey: string): bigint[] {
  const [name = "", id = "", ...rest] = vkey.split("+");
  const material = Buffer.from(rest.join("+"), "base64");
  if (material[0] !== 4 || material.length !== 33) throw new Error("not a cosigner's vkey");
  const expected = sha256(Buffer.from(`${name}\n`), material).subarray(0, 4);
  if (expected.toString("hex") !== id) throw new Error("the id does not belong to the key");
  const at = note.lastIndexOf("\n\n");
  const body = note.slice(0, at + 1);
  const times: bigint[] = [];
  for (const line of note.slice(at + 2).split("\n")) {
    const [dash, signer, text = ""] = line.split(" ");
    const blob = Buffer.from(text, "base64");
    if (dash !== "\u2014" || signer !== name || !blob.subarray(0, 4).equals(expected)) continue;
    if (blob.length !== 4 + 8 + 64) throw new Error("the length is wrong");
    const time = blob.readBigUInt64BE(4);
    const message = Buffer.from(`cosignature/v1\ntime ${time}\n${body}`);
    if (!ed25519(material.subarray(1), message, blob.subarray(12)))
      throw new Error("bad signature");
    times.push(time);
  }
  return times;
}
