import type { CountersignError } from "@countersign/core";
import { decodeBase64, encodeBase64 } from "@countersign/core";
import { parseDecimal } from "../checkpoint/checkpoint.js";
import { HASH_BYTES } from "../merkle/hash.js";
import { formatError } from "../receipt/errors.js";

/** A detached proof that one entry is in a signed log (C2SP tlog-proof). */
export type TlogProof = {
  readonly index: number;
  /** Inclusion proof from the leaf's sibling up. */
  readonly hashes: readonly Uint8Array[];
  /** The signed checkpoint, verbatim. */
  readonly checkpoint: string;
  /** Opaque and not authenticated; we write none. */
  readonly extra?: Uint8Array;
};

const HEADER = "c2sp.org/tlog-proof@v1";
/** The longest path in a tree of 2^63 leaves. */
const MAX_PROOF_HASHES = 63;
const MAX_PROOF_LENGTH = 1_010_000;

function malformed(line: number, reason: string): CountersignError {
  return formatError("ERR_PROOF_MALFORMED", `not a tlog-proof: ${reason}`, { line, reason });
}

/** The text of a `.tlog-proof` file. */
export function encodeProof(proof: TlogProof): string {
  if (!Number.isSafeInteger(proof.index) || proof.index < 0) {
    throw new TypeError("a leaf index is not negative");
  }
  const extra = proof.extra === undefined ? "" : `extra ${encodeBase64(proof.extra)}\n`;
  const hashes = proof.hashes.map((hash) => `${encodeBase64(hash)}\n`).join("");
  return `${HEADER}\n${extra}index ${proof.index}\n${hashes}\n${proof.checkpoint}`;
}

function decodeLine(text: string, line: number, what: string): Uint8Array {
  try {
    return decodeBase64(text);
  } catch (cause) {
    throw formatError(
      "ERR_PROOF_MALFORMED",
      `not a tlog-proof: ${what}`,
      { line, reason: what },
      cause,
    );
  }
}

/** Reads a `.tlog-proof` file. */
export function parseProof(text: string): TlogProof {
  if (text.length > MAX_PROOF_LENGTH) throw malformed(0, "too large");
  const split = text.indexOf("\n\n");
  if (split < 0) throw malformed(0, "no empty line before the checkpoint");
  const lines = text.slice(0, split).split("\n");
  if (lines[0] !== HEADER) throw malformed(1, "header");
  let at = 1;
  let extra: Uint8Array | undefined;
  const first = lines[at] ?? "";
  if (first.startsWith("extra ")) {
    extra = decodeLine(first.slice("extra ".length), at + 1, "extra");
    at += 1;
  }
  const indexLine = lines[at] ?? "";
  const index = indexLine.startsWith("index ")
    ? parseDecimal(indexLine.slice("index ".length))
    : undefined;
  if (index === undefined) throw malformed(at + 1, "index");
  const rest = lines.slice(at + 1);
  if (rest.length > MAX_PROOF_HASHES) throw malformed(at + 2, "too many hashes");
  const hashes = rest.map((line, offset) => {
    const hash = decodeLine(line, at + 2 + offset, "hash");
    if (hash.length !== HASH_BYTES) throw malformed(at + 2 + offset, "hash length");
    return hash;
  });
  const proof = { index, hashes, checkpoint: text.slice(split + 2) };
  return extra === undefined ? proof : { ...proof, extra };
}
