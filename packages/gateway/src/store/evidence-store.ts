/** An encrypted copy of the payload of one log entry. */
export type EvidenceRow = {
  /** The entry that it belongs to. */
  readonly seq: number;
  /** When it was kept, in milliseconds. */
  readonly keptAt: number;
  /** The name of the key that it is encrypted with. */
  readonly keyId: string;
  /** Nonce, tag and ciphertext. */
  readonly bytes: Uint8Array;
};

/** Figures of an evidence store. */
export type EvidenceUsage = {
  readonly records: number;
  readonly bytes: number;
  /** When the oldest copy was kept; absent for an empty store. */
  readonly oldest?: number;
};

/**
 * Keeps encrypted copies beside the log. It knows neither keys nor payloads.
 *
 * One contract test holds every kind of storage to this:
 * - a resolved `write` survives a killed process; a second row of one entry replaces the first;
 * - `read` returns the rows that exist, in the order of their entries;
 * - `sweep` removes every row that was kept before a time, then the oldest rows until the others
 * have at most so many bytes.
 */
export type EvidenceStore = {
  write(rows: readonly EvidenceRow[]): Promise<void>;
  read(seqs: readonly number[]): Promise<EvidenceRow[]>;
  /** Resolves with the number of removed rows. */
  sweep(before: number, maxBytes: number): Promise<number>;
  usage(): Promise<EvidenceUsage>;
  /** The name of the key of the newest row; `undefined` for an empty store. */
  newestKey(): Promise<string | undefined>;
  close(): Promise<void>;
};

/** Bytes of a row beside its ciphertext: columns and two index entries. */
export const ROW_BYTES = 96;

/** Rows that one statement removes, so that a sweep does not delay writers. */
export const SWEEP_AT_ONCE = 500;

/** Returns the oldest rows whose removal leaves at most so many bytes. */
export function oldestToRemove(
  oldest: readonly { readonly seq: number; readonly size: number }[],
  bytes: number,
  maxBytes: number,
): number[] {
  const removed: number[] = [];
  let left = bytes;
  for (const { seq, size } of oldest) {
    if (left <= maxBytes) break;
    removed.push(seq);
    left -= size;
  }
  return removed;
}
