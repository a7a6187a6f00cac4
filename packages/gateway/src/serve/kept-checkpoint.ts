import { existsSync } from "node:fs";
import { join } from "node:path";
import { CountersignError, equalBytes, isCountersignError } from "@countersign/core";
import { createSigner } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import {
  createNoteKey,
  createTileNodeReader,
  EMPTY_ROOT,
  openCheckpoint,
  rootFromNodes,
  signCheckpoint,
} from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import { readRegularFile } from "../base/files.js";
import "../base/errors.js";
import { KEY_FILES } from "../keys/key-history.js";
import { replaceFile } from "../keys/write-file.js";

const FILE = KEY_FILES.checkpoint;
const MAX_NOTE_BYTES = 1024 * 1024;

/** The part of a store that shows whose log it has. */
export type LogStore = Pick<ReceiptStore, "head" | "readTile" | "readCheckpoint">;

/** The log, and how its kept checkpoint is checked. */
export type KeptCheckpointOptions = {
  readonly directory: string;
  readonly origin: string;
  readonly key: Ed25519Key;
  /** A log with entries may lack its kept checkpoint: it is shared, or the operator accepts it. */
  readonly acceptsMissing: boolean;
};

/**
 * Refuses a store that does not hold the last checkpoint that this gateway signed.
 *
 * The store keeps its own newest checkpoint, but an attacker with write access could remove it together with the
 * entries it covers. The copy next to the keys is out of that attacker's reach.
 */
export async function assertKeptCheckpoint(
  { directory, origin, key, acceptsMissing }: KeptCheckpointOptions,
  store: LogStore,
): Promise<void> {
  const file = join(directory, FILE);
  if (!existsSync(file)) {
    if (acceptsMissing || !(await hasBegun(store))) return;
    throw new CountersignError(
      "ERR_KEYS_CHECKPOINT_MISSING",
      `${file} is missing, but the log ${origin} has entries: without it the gateway cannot tell whether the log lost its end. ` +
        "Fix: restore the file, or verify the log (countersign receipts verify --older CHECKPOINT) and start once with --accept-missing checkpoint.",
      { file },
    );
  }
  const text = readRegularFile(file, MAX_NOTE_BYTES).toString("utf8");
  const keys = [createNoteKey(origin, key.publicKey)];
  const { size, root } = await openCheckpoint(text, keys, verifyEd25519).catch((error: unknown) => {
    if (!isCountersignError(error)) throw error;
    const why = "it is not a checkpoint of this log signed by the key next to it";
    const next = "restore it, or remove it once an export of the store has been verified";
    throw new CountersignError("ERR_KEYS_UNREADABLE", `${file} cannot be used: ${why}; ${next}`, {
      file,
    });
  });
  const head = await store.head();
  if (head.size < size || !equalBytes(await rootAt(store, size), root)) {
    throw new CountersignError(
      "ERR_KEYS_LOG_CHANGED",
      `the store does not hold the ${size} entries that ${file} was signed for; restore it from a copy or an export`,
      { size, file },
    );
  }
}

/** Whether a log has entries or a checkpoint. */
async function hasBegun(store: LogStore): Promise<boolean> {
  return (await store.head()).size > 0 || (await store.readCheckpoint()) !== undefined;
}

/**
 * Keeps a checkpoint of the empty log before its first entry. A log with entries and no kept checkpoint has therefore
 * lost it, at whatever moment the gateway was killed.
 */
export async function keepEmptyCheckpoint(
  { directory, origin, key }: Omit<KeptCheckpointOptions, "acceptsMissing">,
  store: LogStore,
): Promise<void> {
  const file = join(directory, FILE);
  if (existsSync(file) || (await hasBegun(store))) return;
  const empty = { origin, size: 0, root: EMPTY_ROOT };
  await replaceFile(file, await signCheckpoint(empty, createSigner(key)));
}

/** Whether a checkpoint is kept next to the keys. */
export function hasKeptCheckpoint(directory: string): boolean {
  return existsSync(join(directory, FILE));
}

/**
 * Wraps a store so that every checkpoint is also kept next to the keys.
 *
 * Checkpoints may be written concurrently: they are kept one after another, and a shorter log never replaces a longer
 * one.
 */
export function keepCheckpoints(store: ReceiptStore, directory: string): ReceiptStore {
  const file = join(directory, FILE);
  let keptSize = 0;
  let pending: Promise<unknown> = Promise.resolve();
  const keep = (text: string, size: number): Promise<void> => {
    const kept = pending.then(async () => {
      if (size < keptSize) return;
      await replaceFile(file, text);
      keptSize = size;
    });
    // The caller gets the failure; the next checkpoint is kept all the same.
    pending = kept.catch(() => undefined);
    return kept;
  };
  return {
    ...store,
    writeCheckpoint: async (text, size) => {
      await store.writeCheckpoint(text, size);
      await keep(text, size);
    },
  };
}

function rootAt(store: LogStore, size: number): Promise<Uint8Array> {
  if (size === 0) return Promise.resolve(EMPTY_ROOT);
  return rootFromNodes(
    size,
    createTileNodeReader(size, (tile) => store.readTile(tile)),
  );
}
