import { existsSync } from "node:fs";
import { join } from "node:path";
import { CountersignError, isCountersignError } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import { createNoteKey, openCheckpoint, parseCheckpoint, parseNote } from "@countersign/receipts";
import "../base/errors.js";
import { readKey } from "../keys/key-directory.js";
import { assertKeptCheckpoint } from "./kept-checkpoint.js";
import type { KeptCheckpointOptions, LogStore } from "./kept-checkpoint.js";

/** A missing store. */
const NOTHING: LogStore = {
  head: async () => ({ size: 0, hashes: [] }),
  readTile: async () => new Uint8Array(),
  readCheckpoint: async () => undefined,
};

/** The expected owner of a log. */
export type LogOwner = Omit<KeptCheckpointOptions, "key"> & {
  /** The checkpoint key; `undefined` when a start would create one. */
  readonly key: Ed25519Key | undefined;
};

/** Refuses a store that lost what these keys signed, or whose log other keys sign. */
export async function assertOwnLog(owner: LogOwner, store: LogStore): Promise<void> {
  const { directory, origin, key } = owner;
  if (key !== undefined) await assertKeptCheckpoint({ ...owner, key }, store);
  const text = await store.readCheckpoint();
  // Entries without a checkpoint come from a gateway that was killed early; keys that do not exist yet cannot own
  // them.
  const isOwn =
    text === undefined
      ? key !== undefined || (await store.head()).size === 0
      : await isSignedBy(key, origin, text);
  if (isOwn) return;
  throw new CountersignError(
    "ERR_KEYS_OTHER_LOG",
    `the log ${origin} in the store is signed by other keys than those in ${directory}; bring the key directory of that log, or give this gateway another receipts.origin and a store of its own`,
    { origin, directory },
  );
}

/** The same for a check, which creates no key and no store. */
export async function assertOwnLogIn(
  directory: string,
  origin: string,
  store: LogStore | undefined,
  acceptsMissing: boolean,
): Promise<void> {
  const file = join(directory, "checkpoint.pem");
  const key = existsSync(file) ? await readKey(file) : undefined;
  await assertOwnLog({ directory, origin, key, acceptsMissing }, store ?? NOTHING);
}

async function isSignedBy(
  key: Ed25519Key | undefined,
  origin: string,
  text: string,
): Promise<boolean> {
  // For another origin, opening the log reports the mismatch.
  if (parseCheckpoint(parseNote(text).text).origin !== origin) return true;
  if (key === undefined) return false;
  try {
    await openCheckpoint(text, [createNoteKey(origin, key.publicKey)], verifyEd25519);
    return true;
  } catch (error) {
    if (isCountersignError(error)) return false;
    throw error;
  }
}

/**
 * Files next to a log whose absence the operator may accept at a start. What the file protects against goes
 * undetected that one time.
 */
export const MISSING_PARTS = ["checkpoint", "ledger"] as const;

/** The parts whose absence the operator accepts for this start. */
export type AcceptedMissing = ReadonlySet<(typeof MISSING_PARTS)[number]>;

/** No part may be missing. */
export const NOTHING_MISSING: AcceptedMissing = new Set();
