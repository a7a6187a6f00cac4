import type { ErrorFacts } from "@countersign/core";
import { CountersignError } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A receipt lacks a member, has one of the wrong type, or text without a canonical form. */
    ERR_RECEIPT_MALFORMED: { member: string; reason: string };
    /** A key or signature string has an unknown encoding or the wrong length. */
    ERR_RECEIPT_SIGNATURE: { member: "kernel_key" | "signature"; reason: string };
    /** A log entry is not canonical JSON of the entry shape. */
    ERR_ENTRY_MALFORMED: { member: string; reason: string };
    /** A log entry does not fit the 16-bit length of an entry bundle. */
    ERR_ENTRY_TOO_LARGE: { limit: number; size: number };
    /** A signed note does not follow the C2SP grammar. */
    ERR_NOTE_MALFORMED: { reason: string };
    /** A vkey line is invalid. */
    ERR_NOTE_KEY: { reason: string };
    /** No signature of a note is by a known key, or one of a known key is invalid. */
    ERR_NOTE_UNVERIFIED: { reason: "unknown-key" | "bad-signature" };
    /** The text of a checkpoint is not origin, size and root. */
    ERR_CHECKPOINT_MALFORMED: { line: number; reason: string };
    /** A tile or entry bundle has the wrong path, length or framing. */
    ERR_TILE_MALFORMED: { reason: string };
    /** A `.tlog-proof` file does not follow the C2SP grammar. */
    ERR_PROOF_MALFORMED: { line: number; reason: string };
    /** A line of `keys.jsonl` is not a key record. */
    ERR_KEYS_MALFORMED: { line: number; reason: string };
    /** A COSE object is not deterministic CBOR, or not of the profile of our statements. */
    ERR_COSE_MALFORMED: { part: string; reason: string };
    /** A DSSE envelope, or the in-toto statement of a run in it, has another form. */
    ERR_DSSE_MALFORMED: { part: string; reason: string };
  }
}

/** A coded error of the receipt and log formats. */
export function formatError<C extends keyof ErrorFacts>(
  code: C,
  message: string,
  facts: ErrorFacts[C],
  cause?: unknown,
): CountersignError<C> {
  return new CountersignError(code, message, facts, cause === undefined ? undefined : { cause });
}
