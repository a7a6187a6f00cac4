import { CountersignError, equalBytes, isCountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import { signCheckpoint } from "../checkpoint/sign-checkpoint.js";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { EMPTY_ROOT } from "../merkle/hash.js";
import { proveConsistency, rootFromNodes } from "../merkle/prove.js";
import { frontierRoot } from "../merkle/tree.js";
import { verifyConsistency } from "../merkle/verify-proof.js";
import { parseNote } from "../note/note.js";
import type { MessageSigner } from "../note/sign-note.js";
import { createNoteKey } from "../note/vkey.js";
import type { ReceiptStore } from "../store/store.js";
import { createTileNodeReader } from "../tiles/nodes.js";
import type { OwnLineage } from "./own-lineage.js";
import { assertSealed } from "./seal.js";
import type { KnownHead, LogSeal } from "./seal.js";

/** The root of the first `size` entries, from the store's tiles. */
export async function storedRoot(store: ReceiptStore, size: number): Promise<Uint8Array> {
  if (size === 0) return EMPTY_ROOT;
  return rootFromNodes(
    size,
    createTileNodeReader(size, (tile) => store.readTile(tile)),
  );
}

/** The log contradicts its checkpoint or its acknowledgements. */
function inconsistent(size: number, reason: string): CountersignError {
  return new CountersignError(
    "ERR_LOG_INCONSISTENT",
    `the log contradicts its checkpoint: ${reason}`,
    { size, reason },
  );
}

/** The store has fewer entries than this log acknowledged. */
export function lostEntries(size: number): CountersignError {
  return inconsistent(size, "entries are missing");
}

/**
 * Rejects a store that lost or changed entries of its last checkpoint: signing on would make the
 * gateway confirm the tampering. With a key, a checkpoint that this key did not sign is rejected.
 */
export async function assertConsistent(
  store: ReceiptStore,
  origin: string,
  key?: Uint8Array,
): Promise<Checkpoint | undefined> {
  const text = await store.readCheckpoint();
  if (text === undefined) return undefined;
  const checkpoint = parseCheckpoint(parseNote(text).text);
  const refuse = (reason: string): CountersignError => inconsistent(checkpoint.size, reason);
  if (checkpoint.origin !== origin) throw refuse("another origin");
  if (key !== undefined && !(await isSigned(text, origin, key))) throw refuse("another key");
  const head = await store.head();
  if (head.size < checkpoint.size) throw refuse("entries are missing");
  if (!equalBytes(await storedRoot(store, checkpoint.size), checkpoint.root)) {
    throw refuse("another root");
  }
  return checkpoint;
}

async function isSigned(text: string, origin: string, key: Uint8Array): Promise<boolean> {
  try {
    await openCheckpoint(text, [createNoteKey(origin, key)], verifyEd25519);
    return true;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return false;
  }
}

/**
 * Rejects a tree that does not extend an older one; the store's tiles must prove the consistency.
 */
export async function assertExtends(
  store: ReceiptStore,
  older: KnownHead,
  newer: KnownHead,
): Promise<void> {
  const read = createTileNodeReader(newer.size, (tile) => store.readTile(tile));
  const proof = await proveConsistency(older.size, newer.size, read);
  if (!verifyConsistency(older, newer, proof)) throw inconsistent(older.size, "another root");
}

/** The inputs of a checkpoint. */
export type CheckpointSource = {
  readonly store: ReceiptStore;
  readonly origin: string;
  readonly signer: MessageSigner;
  /** Without a seal every entry in the store is signed. */
  readonly seal?: LogSeal | undefined;
  /** Skips the consistency proof when only this log appended since the last checkpoint. */
  readonly lineage: OwnLineage;
};

/**
 * Signs and stores a checkpoint of all acknowledged entries, and of no foreign ones. Size and seal
 * do not show whether entries of other gateways replaced signed entries that were lost, hence the
 * consistency proof.
 */
export async function makeCheckpoint(
  { store, origin, signer, seal, lineage }: CheckpointSource,
  known?: KnownHead,
): Promise<{ checkpoint: Checkpoint; text: string }> {
  const head = await store.head();
  if (head.size < (known?.size ?? 0)) throw lostEntries(known?.size ?? 0);
  if (seal !== undefined) assertSealed(seal, head, known);
  const checkpoint = { origin, size: head.size, root: frontierRoot(head) };
  const chain = lineage.chainFrom(head);
  if (known !== undefined && chain.signed !== known) await assertExtends(store, known, checkpoint);
  const text = await signCheckpoint(checkpoint, signer);
  await store.writeCheckpoint(text, head.size);
  chain.signed = checkpoint;
  return { checkpoint, text };
}
