/** How a group is signed: every receipt by itself, or one root for all (denials always singly). */
export type SignMode = "each" | "batch";

/** A group of drafts on its way to a signer. */
export type SignRequest = {
  /** Five lines for each draft (see `DraftLines`). A signer may take the buffer away. */
  readonly lines: Uint8Array;
  readonly count: number;
  readonly mode: SignMode;
  /** Positions that are signed singly even in `batch` mode, ascending. */
  readonly singles: readonly number[];
};

/** Signed entries that lack only their `seq`. */
export type SignedGroup = {
  /** The entries side by side, without the digits of `seq`. */
  readonly bytes: Uint8Array;
  /** Two numbers for each entry: where `seq` goes, and where the entry ends. */
  readonly cuts: Uint32Array;
};

/** Writes the 64-byte Ed25519 signature of a message to the start of `signature`. */
export type SignInto = (signature: Uint8Array, message: Uint8Array) => void;
