import type { CountersignError } from "@countersign/core";
import { concatBytes, decodeBase64Url, decodeHex } from "@countersign/core";
import { utf8 } from "./canonical-text.js";
import { formatError } from "./errors.js";
import { hexDigits } from "./hex-pattern.js";

/** Prefix of a signature that shares one root signature with a group of receipts. */
export const BATCH_PREFIX = "ed25519-batch:";
/** Maximum number of receipts that share one root signature. */
export const MAX_BATCH_SIZE = 65_536;

/** A parsed batch signature. */
export type BatchSignature = {
  readonly index: number;
  readonly size: number;
  readonly rootSignature: Uint8Array;
  readonly path: readonly Uint8Array[];
};

// A note cannot contain the NUL byte and no JSON text starts with a letter c, so a root message is
// never a receipt body, a key record or a checkpoint.
const DOMAIN = utf8("countersign.receipt-batch.v1\0");
const PATTERN = new RegExp(
  `^${BATCH_PREFIX}(0|[1-9]\\d{0,4})/([1-9]\\d{0,4}):(${hexDigits(128)}):([A-Za-z0-9_-]*)$`,
);
/** Characters of one hash in a path: 32 bytes in base64url. */
export const PATH_HASH_CHARACTERS = 43;

/** The bytes the root signature covers: domain, group size as 32-bit big-endian, root hash. */
export function batchRootMessage(size: number, root: Uint8Array): Uint8Array {
  const count = new Uint8Array(4);
  new DataView(count.buffer).setUint32(0, size);
  return concatBytes(DOMAIN, count, root);
}

function malformed(reason: string): CountersignError {
  return formatError("ERR_RECEIPT_SIGNATURE", `not a batch signature: ${reason}`, {
    member: "signature",
    reason,
  });
}

/** The parts of a batch signature, its path still text. */
export type BatchSignatureParts = {
  readonly index: number;
  readonly size: number;
  /** 128 hex digits. */
  readonly rootSignature: string;
  /** Hashes of 43 characters each. */
  readonly path: string;
};

/** Splits `ed25519-batch:<index>/<size>:<root signature>:<path>`. */
export function splitBatchSignature(text: string): BatchSignatureParts {
  const match = PATTERN.exec(text);
  if (match === null) throw malformed("grammar");
  const [, index = "", size = "", rootSignature = "", path = ""] = match;
  if (Number(size) > MAX_BATCH_SIZE) throw malformed("group size");
  if (Number(index) >= Number(size)) throw malformed("index outside the group");
  if (path.length % PATH_HASH_CHARACTERS !== 0) throw malformed("path length");
  return { index: Number(index), size: Number(size), rootSignature, path };
}

/** The first hash of a path. */
export function decodePathHash(path: string): Uint8Array {
  try {
    return decodeBase64Url(path.slice(0, PATH_HASH_CHARACTERS));
  } catch {
    throw malformed("path base64url");
  }
}

/** Reads a batch signature. */
export function parseBatchSignature(text: string): BatchSignature {
  const { index, size, rootSignature, path } = splitBatchSignature(text);
  const hashes: Uint8Array[] = [];
  for (let offset = 0; offset < path.length; offset += PATH_HASH_CHARACTERS) {
    hashes.push(decodePathHash(path.slice(offset)));
  }
  return { index, size, rootSignature: decodeHex(rootSignature), path: hashes };
}
