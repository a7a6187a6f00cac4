import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeCommit } from "../bundles/commit-record.js";
import { encodeEntry } from "../entry/encode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import type { HashedDraft } from "../entry/draft.js";

/** The entry that a log creates from a draft, with a signature that is never checked. */
export function entryOf(seq: number, draft: HashedDraft): LogEntry {
  const { receipt, received_at = 0, ...rest } = draft;
  return {
    ...rest,
    received_at,
    seq,
    receipt: {
      ...receipt,
      id: `agui-${receipt.event_id}`,
      kernel_key: `ed25519:${"ab".repeat(32)}`,
      signature: `ed25519:${"01".repeat(64)}`,
    },
  };
}

/**
 * Entries in bundle encoding with a commit after every `flush` entries; its root is not the log's.
 */
export function segmentOf(entries: readonly LogEntry[], flush: number): Buffer {
  const pieces: Uint8Array[] = [];
  for (const [index, entry] of entries.entries()) {
    const bytes = encodeEntry(entry);
    pieces.push(Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes);
    const size = index + 1;
    if (size % flush === 0 || size === entries.length) {
      pieces.push(encodeCommit(size, new Uint8Array(32)));
    }
  }
  return Buffer.concat(pieces);
}

/** Puts a first segment where an index looks for it. */
export function writeSegment(directory: string, bytes: Uint8Array): void {
  mkdirSync(join(directory, "segments"), { recursive: true });
  writeFileSync(join(directory, "segments", "0000000000000000.log"), bytes);
}
