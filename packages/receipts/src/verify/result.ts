import type { ErrorCode } from "@countersign/core";
import { isCountersignError } from "@countersign/core";

/** The id of a check; each has one meaning in every verification. */
export type CheckId =
  | "receipt-format"
  | "receipt-signature"
  | "receipt-once"
  | "deny-signed-singly"
  | "payload-hash"
  | "entry-format"
  | "entry-sequence"
  | "entry-key"
  | "proof-format"
  | "inclusion"
  | "checkpoint-format"
  | "checkpoint-signature"
  | "checkpoint-consistency"
  | "key-history"
  | "entries-complete"
  | "entries-removed"
  | "leaf-tiles"
  | "upper-tiles"
  | "tree-root"
  | "receipts-file"
  | "beyond-checkpoint"
  | "statement-format"
  | "statement-signature"
  | "statement-key"
  | "statement-claims"
  | "cose-receipt"
  | "key-set"
  | "manifest"
  | "statements-complete"
  | "run-statement"
  | "run-signature"
  | "run-entries"
  | "run-transcript"
  | "run-tree"
  | "store-whole"
  | "store-parts";

const TITLES: Readonly<Record<CheckId, string>> = {
  "receipt-format": "The receipt has all its fields in a valid form",
  "receipt-signature": "The signature covers the receipt as received",
  "receipt-once": "No receipt is in the log twice",
  "deny-signed-singly": "A blocked event has its own signature",
  "payload-hash": "The payload hash matches the auditor's own copy",
  "entry-format": "The entry is canonical JSON with the known fields",
  "entry-sequence": "The entry's number is its position in the log",
  "entry-key": "The key is in the history and was in use at this entry",
  "proof-format": "The proof file can be read",
  inclusion: "The proof leads from the entry to the signed root",
  "checkpoint-format": "The checkpoint can be read",
  "checkpoint-signature": "The checkpoint is signed by the log's key",
  "checkpoint-consistency": "The log only grew since the older checkpoint",
  "key-history": "Each key is signed by the key before it",
  "entries-complete": "Every entry up to the signed size is there",
  "entries-removed": "A signed entry announces the removal of the entries that are not there",
  "leaf-tiles": "The leaf tiles are the hashes of the entries",
  "upper-tiles": "The upper tiles are the hashes of the tiles below",
  "tree-root": "The entries hash to the signed root",
  "receipts-file": "receipts.jsonl holds the receipts of the entries",
  "beyond-checkpoint": "Entries not yet covered by a checkpoint are whole",
  "statement-format": "The statement is one COSE_Sign1 in deterministic CBOR",
  "statement-signature": "The issuer signed the statement and the entry in it",
  "statement-key": "The issuer's key is in the history and was not retired before",
  "statement-claims": "Issuer and subject are those of the entry and of the log",
  "cose-receipt": "The receipt is one COSE_Sign1 with one inclusion proof",
  "key-set": "The key set holds the keys of the log and of the history",
  manifest: "The manifest is signed and names the tree of the checkpoint",
  "statements-complete": "Every statement that the manifest lists is there",
  "run-statement": "The file is a statement about one run",
  "run-signature": "The log's key signed the statement about the run",
  "run-entries": "The log has the same entries of the run, with the same decisions",
  "run-transcript": "The entries of the run hash to the transcript of the statement",
  "run-tree": "The tree of the statement is the start of this log",
  "store-whole": "The live store is complete",
  "store-parts": "The log has its checkpoint, key history and ledger",
};

/** One check of the list. */
export type Check = {
  readonly id: CheckId;
  readonly title: string;
  readonly status: "held" | "failed" | "skipped";
  readonly detail: string;
  /** The log index of the check, or the first of several. */
  readonly index?: number;
  /** The code of the error that caused a failure, if any. */
  readonly code?: ErrorCode;
};

/** A key that signed, and whether it is on the verifier's list. */
export type SignerTrust = {
  /** `ed25519:` and hex for receipts, a vkey for the log. */
  readonly key: string;
  readonly role: "receipt" | "log";
  /** Null when the verifier gave no list. */
  readonly trusted: boolean | null;
};

/** The result of a verification: validity and trust are separate. */
export type Verification = {
  readonly checks: readonly Check[];
  /** No check failed. Independent of who signed. */
  readonly valid: boolean;
  /** Every signer is on the verifier's list; null when no list was given for one of them. */
  readonly signerTrusted: boolean | null;
  readonly signers: readonly SignerTrust[];
  /** Lowest log index of a failed check. */
  readonly firstBrokenIndex?: number;
};

/** A check that passed. */
export function held(id: CheckId, detail: string, index?: number): Check {
  const check: Check = { id, title: TITLES[id], status: "held", detail };
  return index === undefined ? check : { ...check, index };
}

/** A check without input. */
export function skipped(id: CheckId, detail: string): Check {
  return { id, title: TITLES[id], status: "skipped", detail };
}

/** A check that failed. */
export function failed(id: CheckId, detail: string, index?: number, code?: ErrorCode): Check {
  return {
    id,
    title: TITLES[id],
    status: "failed",
    detail,
    ...(index === undefined ? {} : { index }),
    ...(code === undefined ? {} : { code }),
  };
}

/**
 * A failed check from a coded error; any other error is a bug or a read failure and is rethrown.
 */
export function failedBy(id: CheckId, error: unknown, index?: number): Check {
  if (!isCountersignError(error)) throw error;
  return failed(id, error.message, index, error.code);
}

/** Summarizes the checks. */
export function conclude(checks: readonly Check[], signers: readonly SignerTrust[]): Verification {
  const broken = checks.filter(({ status }) => status === "failed");
  const indices = broken.flatMap(({ index }) => (index === undefined ? [] : [index]));
  let signerTrusted: boolean | null = signers.length > 0;
  if (signers.some(({ trusted }) => trusted === null)) signerTrusted = null;
  if (signers.some(({ trusted }) => trusted === false)) signerTrusted = false;
  const result: Verification = { checks, valid: broken.length === 0, signerTrusted, signers };
  return indices.length === 0 ? result : { ...result, firstBrokenIndex: Math.min(...indices) };
}
