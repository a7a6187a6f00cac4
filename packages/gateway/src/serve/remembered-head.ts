import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError, equalBytes } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import {
  createNoteKey,
  createTileNodeReader,
  EMPTY_ROOT,
  openCheckpoint,
  rootFromNodes,
} from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import "../keys/errors.js";
import { readKey } from "../keys/key-directory.js";

const FILE = "last-checkpoint";

/** What is asked of a store here. */
type Holding = Pick<ReceiptStore, "head" | "readTile">;

/** A store that is not there. */
const NOTHING: Holding = {
  head: async () => ({ size: 0, hashes: [] }),
  readTile: async () => new Uint8Array(),
};

/**
 * Refuses a store that does not hold what this gateway signed for last.
 *
 * The store keeps its own newest checkpoint, but whoever may write there could remove it together with
 * the entries it covers. The copy beside the keys is out of their reach.
 */
export async function assertRemembered(
  directory: string,
  origin: string,
  key: Ed25519Key,
  store: Holding,
): Promise<void> {
  const file = join(directory, FILE);
  if (!existsSync(file)) return;
  const text = await readFile(file, "utf8");
  const keys = [createNoteKey(origin, key.publicKey)];
  const { size, root } = await openCheckpoint(text, keys, verifyEd25519);
  const head = await store.head();
  if (head.size < size || !equalBytes(await rootAt(store, size), root)) {
    throw new CountersignError(
      "ERR_KEYS_LOG_CHANGED",
      `the store does not hold the ${size} entries that ${file} was signed for; restore it from a copy or an export`,
      { size, file },
    );
  }
}

/** The same for a check, which opens no key: without a store nothing that was signed for is held. */
export async function assertRememberedIn(
  directory: string,
  origin: string,
  store: Holding | undefined,
): Promise<void> {
  if (!existsSync(join(directory, FILE))) return;
  const key = await readKey(join(directory, "checkpoint.pem"));
  await assertRemembered(directory, origin, key, store ?? NOTHING);
}

/** The same store, with every checkpoint it takes also kept beside the keys. */
export function rememberCheckpoints(store: ReceiptStore, directory: string): ReceiptStore {
  const file = join(directory, FILE);
  return {
    ...store,
    writeCheckpoint: async (text, size) => {
      await store.writeCheckpoint(text, size);
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    },
  };
}

function rootAt(store: Holding, size: number): Promise<Uint8Array> {
  if (size === 0) return Promise.resolve(EMPTY_ROOT);
  return rootFromNodes(
    size,
    createTileNodeReader(size, (tile) => store.readTile(tile)),
  );
}
