import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KEY_FILES } from "@countersign/gateway";
import {
  createTileNodeReader,
  parseCheckpoint,
  parseNote,
  proveConsistency,
  tilePath,
} from "@countersign/receipts";
import type { DirectoryOptions } from "@countersign/receipts/verify-node";
import { isThere } from "../../files/is-there.js";
import { readText } from "../../files/read-file.js";
import type { Place } from "./place.js";

/**
 * The checkpoint that the gateway keeps beside its keys, out of reach of whoever may write to the store: a log that lost its end
 * agrees with itself, and only with this one not. Read before the store is: a gateway that runs writes the store's first.
 */
export function readRemembered(place: Place): string | undefined {
  const file = join(place.keyDirectory, KEY_FILES.checkpoint);
  return isThere(file) ? readText(file) : undefined;
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
  const from = sizeOf(older);
  const size = sizeOf(await readFile(join(directory, "checkpoint"), "utf8"));
  if (from > size) return [];
  const read = createTileNodeReader(size, (tile) => readFile(join(directory, tilePath(tile))));
  return proveConsistency(from, size, read);
}

function sizeOf(checkpoint: string): number {
  return parseCheckpoint(parseNote(checkpoint).text).size;
}
