import type { MessageSigner } from "../note/sign-note.js";
import { HASH_BYTES } from "../merkle/hash.js";
import type { CborValue } from "./cbor.js";
import { decodeCbor, encodeCbor, malformed } from "./cbor.js";
import { keyThumbprint } from "./cose-key.js";
import type { ProtectedHeader, Sign1 } from "./sign1.js";
import { createSign1, decodeProtected, decodeSign1, encodeSign1, HEADER, mapOf } from "./sign1.js";

/** The media type of a receipt (RFC 9943). */
export const RECEIPT_TYPE = "application/scitt-receipt+cose";
/** The verifiable data structure of our log (RFC 9942): the tree of RFC 9162, which is that of RFC 6962. */
export const RFC9162_SHA256 = 1;
/** The label of inclusion proofs in `vdp`. */
const INCLUSION = -1;
/** A tree of 2^53 leaves is 53 high. */
const MAX_PATH = 53;
/** Protected header with a log name of 1,024 characters, path, signature. */
const MAX_RECEIPT_BYTES = 8 * 1024;

/** A COSE receipt (RFC 9942): the signed root of a tree, and the path from one leaf to it. */
export type CoseReceipt = {
  readonly header: ProtectedHeader;
  readonly signed: Sign1;
  readonly size: number;
  readonly index: number;
  readonly path: readonly Uint8Array[];
};

/** The signature of a log over one root; one serves the receipts of all entries below. */
export type SignedRoot = Pick<Sign1, "protectedBytes" | "signature"> & { readonly size: number };

/** The subject of a receipt: it binds the size of the tree, which RFC 9942 leaves unsigned. */
export function treeSubject(size: number): string {
  return `tree/${size}`;
}

/** Signs a root. The caller must have seen the log's own checkpoint with this size and root. */
export async function signRoot(
  tree: { readonly origin: string; readonly size: number; readonly root: Uint8Array },
  signer: MessageSigner,
): Promise<SignedRoot> {
  const header: ProtectedHeader = {
    keyId: keyThumbprint(signer.publicKey),
    type: RECEIPT_TYPE,
    issuer: tree.origin,
    subject: treeSubject(tree.size),
    dataStructure: RFC9162_SHA256,
  };
  return { ...(await createSign1(header, tree.root, signer)), size: tree.size };
}

/** Encodes the receipt of one leaf; the root is detached. */
export function encodeCoseReceipt(
  { protectedBytes, signature, size }: SignedRoot,
  index: number,
  path: readonly Uint8Array[],
): Uint8Array {
  const proof = encodeCbor([size, index, [...path]]);
  const proofs = new Map<number, CborValue>([[INCLUSION, [proof]]]);
  return encodeSign1({
    protectedBytes,
    unprotected: new Map([[HEADER.proofs, proofs]]),
    payload: null,
    signature,
  });
}

/** Decodes a receipt with exactly one inclusion proof and a detached root. */
export function decodeCoseReceipt(bytes: Uint8Array): CoseReceipt {
  const part = "the receipt";
  const signed = decodeSign1(part, bytes, MAX_RECEIPT_BYTES);
  const header = decodeProtected(part, signed.protectedBytes, {
    type: RECEIPT_TYPE,
    dataStructure: RFC9162_SHA256,
  });
  if (signed.payload !== null) throw malformed(part, "the root is not detached");
  const proofs = mapOf(part, signed.unprotected.get(HEADER.proofs) ?? null);
  const list = proofs.get(INCLUSION);
  if (signed.unprotected.size !== 1 || proofs.size !== 1 || !Array.isArray(list)) {
    throw malformed(part, "the unprotected header is not one list of inclusion proofs");
  }
  const [proof] = list;
  if (list.length !== 1 || !(proof instanceof Uint8Array)) {
    throw malformed(part, "not exactly one inclusion proof");
  }
  return { header, signed, ...decodeInclusion(proof) };
}

function decodeInclusion(bytes: Uint8Array): Pick<CoseReceipt, "size" | "index" | "path"> {
  const part = "the inclusion proof";
  const proof = decodeCbor(part, bytes, MAX_RECEIPT_BYTES);
  if (!Array.isArray(proof) || proof.length !== 3) throw malformed(part, "not three elements");
  const [size, index, path] = proof as CborValue[];
  if (typeof size !== "number" || typeof index !== "number" || index < 0 || index >= size) {
    throw malformed(part, "the index is not below the size");
  }
  const isPath =
    Array.isArray(path) &&
    path.length <= MAX_PATH &&
    path.every((hash) => hash instanceof Uint8Array && hash.length === HASH_BYTES);
  if (!isPath) throw malformed(part, "the path is not a list of hashes");
  return { size, index, path: path as Uint8Array[] };
}
