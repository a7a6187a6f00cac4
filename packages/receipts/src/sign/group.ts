/**
 * How a group is signed: each receipt separately, or one root for all (denials always separately).
 */
export type SignMode = "each" | "batch";

/**
 * The parts of the canonical JSON of an entry that repeat from draft to draft, in the order of a
 * row. An entry consists of:
 *
 *     entryHead receiptHead event_id eventType event_id key payload_hash session
 *     signature receiptTail entryTail seq entryEnd
 */
export const PART = {
  /** The entry up to its receipt. */
  entryHead: 0,
  /** The receipt up to the value of `event_id`. */
  receiptHead: 1,
  /** From after the value of `event_id` to its second occurrence, in `id`. */
  eventType: 2,
  /** From after the payload hash to the signature: `session_id`, when present. */
  session: 3,
  /** The receipt after the value of its signature, with the closing quote of that value. */
  receiptTail: 4,
  /** From after the receipt to the value of `seq`. */
  entryTail: 5,
  /** The entry after `seq`. */
  entryEnd: 6,
} as const;

/** A part of an entry. */
export type Part = (typeof PART)[keyof typeof PART];

/** The number of parts. */
export const PARTS: number = Object.keys(PART).length;

/** Characters of a payload hash. */
export const HASH_DIGITS = 64;

/**
 * Drafts as text for a signer. `rows` are pieces separated by line feeds, which canonical JSON
 * never contains. Each draft has: a mark (one bit for each part that differs from the draft before,
 * see `partMark`), those parts in the order of `PART`, `event_id` without its quotes, and the
 * payload hash. An empty hash means that the payload is the next piece of `payloads`.
 */
export type DraftText = {
  readonly rows: string;
  readonly payloads: string;
};

/** Bytes of a mark. */
export const MARK_BYTES = 2;
const LOW_BITS = 4;
const MARK_ZERO = 0x30;

/** Encodes a set of parts in two characters of one byte each. */
export function partMark(set: number): string {
  return String.fromCharCode(MARK_ZERO + (set >> LOW_BITS), MARK_ZERO + (set & 0xf));
}

/** Decodes the two bytes of a mark. */
export function partSet(high: number, low: number): number {
  return ((high - MARK_ZERO) << LOW_BITS) | (low - MARK_ZERO);
}

/** A group of drafts for a signer. */
export type SignRequest = DraftText & {
  readonly count: number;
  /** The expected `seq` of the first entry. */
  readonly first: number;
  readonly mode: SignMode;
  /** Positions that are signed separately even in `batch` mode, ascending. */
  readonly singles: readonly number[];
};

/** Signed entries numbered from `first` on, and their part of the tree. */
export type SignedGroup = {
  readonly first: number;
  /** The entries in bundle encoding: 16-bit big-endian length, then the bytes. */
  readonly records: Uint8Array;
  /** Two numbers for each entry: the position of the digits of `seq`, and the end of the record. */
  readonly places: Uint32Array;
  /** Concatenated leaf hashes. */
  readonly leaves: Uint8Array;
  /** The largest aligned subtrees over these leaves, from the left: height (0 to 8) and hash, 33 bytes each. */
  readonly nodes: Uint8Array;
};

/** Writes the 64-byte Ed25519 signature of a message to the start of `signature`. */
export type SignInto = (signature: Uint8Array, message: Uint8Array) => void;

/** The key of a signing thread. */
export type GroupKey = {
  readonly sign: SignInto;
  /** `ed25519:` and the public key in hex, as in receipts. */
  readonly kernelKey: string;
};
