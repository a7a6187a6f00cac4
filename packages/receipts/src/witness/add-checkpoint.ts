import type { CountersignError } from "@countersign/core";
import { decodeBase64, encodeBase64, sha256Hex } from "@countersign/core";
import { parseDecimal } from "../checkpoint/checkpoint.js";
import { HASH_BYTES } from "../merkle/hash.js";
import { utf8 } from "../receipt/canonical-text.js";
import { formatError } from "../receipt/errors.js";
import "./errors.js";

/** The body of an `add-checkpoint` request (C2SP tlog-witness). */
export type AddCheckpoint = {
  /** The size of the newest checkpoint that the witness cosigned, as the client knows it. */
  readonly old: number;
  /** Consistency proof from that size. */
  readonly proof: readonly Uint8Array[];
  /** The signed checkpoint, verbatim. */
  readonly checkpoint: string;
};

/** The specification allows at most 63 hashes. */
const MAX_PROOF_HASHES = 63;
/** A full proof, and a checkpoint with many signature lines, post-quantum ones among them. */
export const MAX_ADD_CHECKPOINT_BYTES = 64 * 1024;
/** Path of the call below the URL of a witness. */
export const ADD_CHECKPOINT = "add-checkpoint";
/** Content type of the size in a 409 response. */
export const SIZE_TYPE = "text/x.tlog.size";

function malformed(reason: string): CountersignError {
  return formatError("ERR_WITNESS_REQUEST", `not an add-checkpoint request: ${reason}`, { reason });
}

/** The text of the request body. */
export function encodeAddCheckpoint({ old, proof, checkpoint }: AddCheckpoint): string {
  const hashes = proof.map((hash) => `${encodeBase64(hash)}\n`).join("");
  return `old ${old}\n${hashes}\n${checkpoint}`;
}

/** Reads a request body; the checkpoint is opened by the caller. */
export function decodeAddCheckpoint(body: string): AddCheckpoint {
  if (body.length > MAX_ADD_CHECKPOINT_BYTES) throw malformed("too large");
  const split = body.indexOf("\n\n");
  if (split < 0) throw malformed("no empty line before the checkpoint");
  const [first = "", ...hashes] = body.slice(0, split).split("\n");
  const old = first.startsWith("old ") ? parseDecimal(first.slice("old ".length)) : undefined;
  if (old === undefined) throw malformed("old size");
  if (hashes.length > MAX_PROOF_HASHES) throw malformed("too many hashes");
  return { old, proof: hashes.map(decodeHash), checkpoint: body.slice(split + 2) };
}

function decodeHash(text: string): Uint8Array {
  let hash: Uint8Array;
  try {
    hash = decodeBase64(text);
  } catch {
    throw malformed("hash");
  }
  if (hash.length !== HASH_BYTES) throw malformed("hash length");
  return hash;
}

/** The hexadecimal SHA-256 of an origin, which names a log in a path. */
export function originHash(origin: string): string {
  return sha256Hex(utf8(origin));
}

/** Path below the URL of a witness at which it returns its newest checkpoint of a log. */
export function newestPath(origin: string): string {
  return `${originHash(origin)}/checkpoint`;
}
