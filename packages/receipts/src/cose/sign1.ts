import type { MessageSigner } from "../note/sign-note.js";
import type { CborMap, CborValue } from "./cbor.js";
import { decodeCbor, encodeCbor, malformed } from "./cbor.js";

/** Labels of COSE header parameters (IANA "COSE Header Parameters"). */
export const HEADER = {
  algorithm: 1,
  critical: 2,
  contentType: 3,
  keyId: 4,
  claims: 15,
  type: 16,
  receipts: 394,
  dataStructure: 395,
  proofs: 396,
} as const;

/** Labels of the CWT claims in a protected header (RFC 8392, RFC 9597). */
export const CLAIM = { issuer: 1, subject: 2 } as const;

/** EdDSA (RFC 9053); with a key on the curve Ed25519 it is Ed25519. */
export const EDDSA = -8;

const COSE_SIGN1 = 18;
const SIGNATURE_BYTES = 64;
const KEY_ID_BYTES = 32;
const NOTHING = new Uint8Array(0);

/** A COSE_Sign1 (RFC 9052 section 4.2) with an Ed25519 signature. */
export type Sign1 = {
  /** The protected header as it was signed. */
  readonly protectedBytes: Uint8Array;
  readonly unprotected: CborMap;
  /** Null when the payload is detached. */
  readonly payload: Uint8Array | null;
  readonly signature: Uint8Array;
};

/** The protected header that statements and receipts share. */
export type ProtectedHeader = {
  readonly keyId: Uint8Array;
  /** The media type of the COSE object itself (RFC 9596). */
  readonly type: string;
  readonly issuer: string;
  readonly subject: string;
  readonly contentType?: string;
  /** The verifiable data structure of a receipt. */
  readonly dataStructure?: number;
};

/** The bytes that the signature of a COSE_Sign1 covers (RFC 9052 section 4.4). */
export function signatureInput(protectedBytes: Uint8Array, payload: Uint8Array): Uint8Array {
  return encodeCbor(["Signature1", protectedBytes, NOTHING, payload]);
}

/** Encodes a tagged COSE_Sign1. */
export function encodeSign1({
  protectedBytes,
  unprotected,
  payload,
  signature,
}: Sign1): Uint8Array<ArrayBuffer> {
  return encodeCbor({ tag: COSE_SIGN1, value: [protectedBytes, unprotected, payload, signature] });
}

/** Decodes a tagged COSE_Sign1 in deterministic CBOR; headers are read by their own functions. */
export function decodeSign1(part: string, bytes: Uint8Array, maxBytes: number): Sign1 {
  const item = decodeCbor(part, bytes, maxBytes);
  if (item === null || typeof item !== "object" || !("tag" in item)) {
    throw malformed(part, "not a tagged COSE_Sign1");
  }
  const { value } = item;
  if (!Array.isArray(value) || value.length !== 4) throw malformed(part, "not four elements");
  const [protectedBytes, unprotected, payload, signature] = value as CborValue[];
  if (!(protectedBytes instanceof Uint8Array)) throw malformed(part, "protected header");
  if (!(unprotected instanceof Map)) throw malformed(part, "unprotected header");
  if (payload !== null && !(payload instanceof Uint8Array)) throw malformed(part, "payload");
  if (!(signature instanceof Uint8Array) || signature.length !== SIGNATURE_BYTES) {
    throw malformed(part, "signature");
  }
  return { protectedBytes, unprotected, payload, signature };
}

/** Encodes the protected header. */
export function encodeProtected(header: ProtectedHeader): Uint8Array {
  const map: CborMap = new Map<number, CborValue>([
    [HEADER.algorithm, EDDSA],
    [HEADER.keyId, header.keyId],
    [
      HEADER.claims,
      new Map<number, CborValue>([
        [CLAIM.issuer, header.issuer],
        [CLAIM.subject, header.subject],
      ]),
    ],
    [HEADER.type, header.type],
  ]);
  if (header.contentType !== undefined) map.set(HEADER.contentType, header.contentType);
  if (header.dataStructure !== undefined) map.set(HEADER.dataStructure, header.dataStructure);
  return encodeCbor(map);
}

/** The members of a protected header; others are refused. */
export type ExpectedHeader = Pick<ProtectedHeader, "type" | "contentType" | "dataStructure">;

/**
 * Decodes a protected header of the profile. Parameters that the profile does not have are refused,
 * critical or not: a verifier that skips one would confirm what it did not read.
 */
export function decodeProtected(
  part: string,
  bytes: Uint8Array,
  expected: ExpectedHeader,
): ProtectedHeader {
  const what = `the protected header of ${part}`;
  const map = mapOf(what, decodeCbor(what, bytes, bytes.length));
  if (map.has(HEADER.critical)) throw malformed(what, "an unknown critical parameter");
  if (map.get(HEADER.algorithm) !== EDDSA) throw malformed(what, "the algorithm is not EdDSA");
  const keyId = map.get(HEADER.keyId);
  if (!(keyId instanceof Uint8Array) || keyId.length !== KEY_ID_BYTES) {
    throw malformed(what, "the key id is not a thumbprint of 32 bytes");
  }
  const { type, contentType, dataStructure } = expected;
  if (map.get(HEADER.type) !== type) throw malformed(what, `the type is not ${type}`);
  if (map.get(HEADER.contentType) !== contentType) {
    throw malformed(what, `the content type is not ${contentType ?? "absent"}`);
  }
  if (map.get(HEADER.dataStructure) !== dataStructure) {
    throw malformed(what, `the verifiable data structure is not ${dataStructure ?? "absent"}`);
  }
  const claims = mapOf(what, map.get(HEADER.claims) ?? null);
  const [issuer, subject] = [claims.get(CLAIM.issuer), claims.get(CLAIM.subject)];
  if (typeof issuer !== "string" || typeof subject !== "string") {
    throw malformed(what, "the claims have no issuer or no subject");
  }
  if (claims.size > 2) throw malformed(what, "an unknown claim");
  const optional = Number(contentType !== undefined) + Number(dataStructure !== undefined);
  if (map.size !== 4 + optional) throw malformed(what, "an unknown parameter");
  return { keyId, issuer, subject, ...expected };
}

/** Narrows an item to a map. */
export function mapOf(part: string, value: CborValue): CborMap {
  if (value instanceof Map) return value;
  throw malformed(part, "not a map");
}

/** Signs a payload; a detached one stays out of the encoded object. */
export async function createSign1(
  header: ProtectedHeader,
  payload: Uint8Array,
  signer: MessageSigner,
): Promise<Pick<Sign1, "protectedBytes" | "signature">> {
  const protectedBytes = encodeProtected(header);
  const signature = await signer.sign(signatureInput(protectedBytes, payload));
  if (signature.length !== SIGNATURE_BYTES) throw new TypeError("an Ed25519 signature is 64 bytes");
  return { protectedBytes, signature };
}
