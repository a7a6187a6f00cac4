import { open } from "node:fs/promises";
import { join } from "node:path";
import { equalBytes, isCountersignError } from "@countersign/core";
import type { Attestations } from "../checkpoint/attestations.js";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { parseNote } from "../note/note.js";
import { parseVkey } from "../note/vkey.js";
import { encodeReceipt } from "../receipt/encode-receipt.js";
import type { TileReader } from "../tiles/nodes.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { resumeTree } from "../tiles/resume.js";
import { EXPORT_FILES } from "../verify/reader.js";
import { exportReadme } from "./readme.js";
import { exportError } from "./errors.js";
import { writeProofs } from "./write-proofs.js";
import { writeDirectory } from "./draft-directory.js";
import { createTreeFiles, writeDurable, writeRemovedTiles } from "./tree-files.js";

/** The sources of an export. */
export type ExportSource = {
  /** The signed checkpoint with the number of entries and their root hash. */
  readonly checkpoint: string;
  /** The log's vkey. */
  readonly vkey: string;
  /** The content of `keys.jsonl`. */
  readonly keys: string;
  /**
   * Leaf bytes of the first entry that is left up to the size of the checkpoint; further ones are
   * not read.
   */
  readonly entries: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Attestations of third parties about checkpoints up to this size. */
  readonly attestations?: Attestations | undefined;
  /** Set when the log no longer has its first entries. */
  readonly removed?: RemovedSource | undefined;
};

/** Entries that were removed because of their age. */
export type RemovedSource = {
  /** The first entry that is left, a multiple of 256. */
  readonly first: number;
  /** The entry that announces the removal. */
  readonly announcement: number;
  /** Reads a tile of the log: the hashes of removed entries stay. */
  readonly readTile: TileReader;
};

/** Options of {@link writeExport}. */
export type WriteExportOptions = {
  /** Entries that get a `.tlog-proof` file each. */
  proofs?: readonly number[];
  /** Called about every bundle with the entries written so far. */
  onProgress?: (done: number, total: number) => void;
  /** Aborts the export; nothing of it stays. */
  signal?: AbortSignal;
};

async function writeEntries(
  directory: string,
  source: ExportSource,
  checkpoint: Checkpoint,
  options: WriteExportOptions,
): Promise<void> {
  const { removed } = source;
  if (removed !== undefined) await writeRemovedTiles(directory, removed.first, removed.readTile);
  const files = createTreeFiles(
    directory,
    removed && (await resumeTree(removed.first, removed.readTile)),
  );
  const handle = await open(join(directory, EXPORT_FILES.receipts), "wx");
  let lines = "";
  let done = removed?.first ?? 0;
  try {
    if (checkpoint.size > done) {
      for await (const bytes of source.entries) {
        lines += `${encodeReceipt(decodeEntry(bytes).receipt)}\n`;
        await files.append(bytes);
        done += 1;
        if (done % TILE_WIDTH === 0 || done === checkpoint.size) {
          await handle.appendFile(lines);
          lines = "";
          options.onProgress?.(done, checkpoint.size);
          options.signal?.throwIfAborted();
        }
        if (done === checkpoint.size) break;
      }
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  const { size, root } = await files.finish();
  if (size !== checkpoint.size || !equalBytes(root, checkpoint.root)) {
    const reason = size === checkpoint.size ? "another root" : `only ${size} entries`;
    throw exportError("ERR_EXPORT_MISMATCH", `the entries do not fit the checkpoint: ${reason}`, {
      size: checkpoint.size,
      reason,
    });
  }
}

/** Writes the witnessed and the dated checkpoint, unless they are of entries after this export. */
async function writeAttestations(
  directory: string,
  { checkpoint: newest, attestations = {} }: ExportSource,
  { size }: Checkpoint,
): Promise<void> {
  const { witnessed, timestamped } = attestations;
  const isWithin = (text: string): boolean => {
    try {
      return parseCheckpoint(parseNote(text).text).size <= size;
    } catch (error) {
      if (isCountersignError(error)) return false;
      throw error;
    }
  };
  const write = (name: string, content: string | Uint8Array): Promise<void> =>
    writeDurable(join(directory, name), content);
  if (witnessed !== undefined && witnessed !== newest && isWithin(witnessed)) {
    await write(EXPORT_FILES.witnessed, witnessed);
  }
  if (timestamped !== undefined && isWithin(timestamped.checkpoint)) {
    await write(EXPORT_FILES.timestamped, timestamped.checkpoint);
    await write(EXPORT_FILES.timestamp, timestamped.response);
  }
}

/**
 * Writes a log as a directory that any third party can verify. The directory appears complete or
 * not at all; memory does not grow with the log.
 */
export async function writeExport(
  directory: string,
  source: ExportSource,
  options: WriteExportOptions = {},
): Promise<void> {
  const checkpoint = parseCheckpoint(parseNote(source.checkpoint).text);
  const key = parseVkey(source.vkey);
  await writeDirectory(directory, async (draft) => {
    await writeEntries(draft, source, checkpoint, options);
    const proofs = options.proofs ?? [];
    if (proofs.length > 0) await writeProofs(draft, source.checkpoint, checkpoint.size, proofs);
    if (source.removed !== undefined) {
      const { first, announcement } = source.removed;
      const text = `${JSON.stringify({ first, announcement })}\n`;
      await writeDurable(join(draft, EXPORT_FILES.removed), text);
    }
    await writeDurable(join(draft, EXPORT_FILES.keys), source.keys);
    await writeDurable(join(draft, EXPORT_FILES.vkey), `${source.vkey.trim()}\n`);
    await writeDurable(
      join(draft, EXPORT_FILES.readme),
      exportReadme(checkpoint, key.name, source.removed?.first),
    );
    await writeAttestations(draft, source, checkpoint);
    // Last, as in a live log: a reader that sees the checkpoint can read everything it commits to.
    await writeDurable(join(draft, EXPORT_FILES.checkpoint), source.checkpoint);
  });
}
