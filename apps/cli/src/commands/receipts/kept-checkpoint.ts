import { join } from "node:path";
import { KEY_FILES } from "@countersign/gateway";
import {
  createTileNodeReader,
  parseCheckpoint,
  parseNote,
  proveConsistency,
  tilePath,
} from "@countersign/receipts";
import { createDirectoryReader } from "@countersign/receipts/export";
import type { DirectoryOptions } from "@countersign/receipts/verify-node";
import { pathExists } from "../../files/path-exists.js";
import { readText } from "../../files/read-file.js";
import type { Location } from "./location.js";

/** Larger than any checkpoint or tile; the limit exists because an export is untrusted. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * The checkpoint that the gateway keeps next to its keys, where a writer of the store cannot reach it. A
 * truncated log is consistent in itself and contradicts only this checkpoint. Read it before the store: a
 * running gateway writes the store first.
 */
export function readKeptCheckpoint(place: Location): string | undefined {
  const file = join(place.keyDirectory, KEY_FILES.checkpoint);
  return pathExists(file) ? readText(file) : undefined;
}

/** An older checkpoint with the proof, from the files of an export, that its log goes on from it; without one where there is none. */
export async function withGrowth(
  directory: string,
  older: string,
): Promise<NonNullable<DirectoryOptions["older"]>> {
  const proof = await proveGrowth(directory, older).catch(() => []);
  return { checkpoint: older, proof };
}

/** Throws for anything that is not whole: the verifier then says that nothing leads from the one to the other. */
async function proveGrowth(directory: string, older: string): Promise<readonly Uint8Array[]> {
  const reader = createDirectoryReader(directory);
  const read = async (path: string): Promise<Uint8Array> => {
    const bytes = await reader.read(path, MAX_FILE_BYTES);
    if (bytes === undefined) throw new TypeError(`${path} is missing`);
    return bytes;
  };
  const from = sizeOf(older);
  const size = sizeOf(Buffer.from(await read("checkpoint")).toString("utf8"));
  if (from > size) return [];
  const nodes = createTileNodeReader(size, (tile) => read(tilePath(tile)));
  return proveConsistency(from, size, nodes);
}

function sizeOf(checkpoint: string): number {
  return parseCheckpoint(parseNote(checkpoint).text).size;
}
