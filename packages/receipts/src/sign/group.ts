/** How a group is signed: every receipt by itself, or one root for all (denials always singly). */
export type SignMode = "each" | "batch";

/**
 * Drafts as text, on their way to a signer. `rows` are pieces separated by line feeds, which canonical
 * JSON never holds. Of each draft: a mark (a set of bits, one for each part that differs
 * from the draft before: see `partMark`), those parts in order, `event_id` as it stands between its quotes, and
 * the payload's hash. An empty hash means that the payload is the next piece of `payloads`.
 */
export type DraftText = {
  readonly rows: string;
  readonly payloads: string;
};

const LOW_BITS = 4;
const MARK_ZERO = 0x30;

/** Spells a set of parts, in two characters that need no more than a byte. */
export function partMark(set: number): string {
  return String.fromCharCode(MARK_ZERO + (set >> LOW_BITS), MARK_ZERO + (set & 0xf));
}

/** The set that the two bytes of a mark spell. */
export function partSet(high: number, low: number): number {
  return ((high - MARK_ZERO) << LOW_BITS) | (low - MARK_ZERO);
}

/** The parts of an entry that repeat from draft to draft, in the order of their bits. */
export const PARTS = 7;

/** A group of drafts on its way to a signer. */
export type SignRequest = DraftText & {
  readonly count: number;
  /** The `seq` the first entry will have, as far as is known now. */
  readonly first: number;
  readonly mode: SignMode;
  /** Positions that are signed singly even in `batch` mode, ascending. */
  readonly singles: readonly number[];
};

/** Signed entries with the numbers from `first` on, and the part of the tree they make. */
export type SignedGroup = {
  readonly first: number;
  /** The entries in bundle encoding: 16-bit big-endian length, then the bytes. */
  readonly records: Uint8Array;
  /** Two numbers for each entry: where the digits of `seq` begin, and where the record ends. */
  readonly places: Uint32Array;
  /** Leaf hashes side by side. */
  readonly leaves: Uint8Array;
  /** The largest aligned subtrees over these leaves, from the left: height (0 to 8) and hash, 33 bytes each. */
  readonly nodes: Uint8Array;
};

/** Writes the 64-byte Ed25519 signature of a message to the start of `signature`. */
export type SignInto = (signature: Uint8Array, message: Uint8Array) => void;

/** A key as a signing thread has it. */
export type GroupKey = {
  readonly sign: SignInto;
  /** `ed25519:` and the public key in hex, as receipts name it. */
  readonly kernelKey: string;
};
