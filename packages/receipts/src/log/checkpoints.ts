import { CountersignError, equalBytes } from "@countersign/core";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import { signCheckpoint } from "../checkpoint/sign-checkpoint.js";
import { EMPTY_ROOT } from "../merkle/hash.js";
import { rootFromNodes } from "../merkle/prove.js";
import { frontierRoot } from "../merkle/tree.js";
import { parseNote } from "../note/note.js";
import type { MessageSigner } from "../note/sign-note.js";
import type { ReceiptStore } from "../store/store.js";
import { createTileNodeReader } from "../tiles/nodes.js";
import "./errors.js";

/** The root of the first `size` entries as the store's tiles tell it. */
export async function storedRoot(store: ReceiptStore, size: number): Promise<Uint8Array> {
  if (size === 0) return EMPTY_ROOT;
  return rootFromNodes(
    size,
    createTileNodeReader(size, (tile) => store.readTile(tile)),
  );
}

/**
 * Refuses a store that lost or changed what its last checkpoint committed to: going on to sign would
 * make the gateway a witness of its own tampering.
 */
export async function assertConsistent(
  store: ReceiptStore,
  origin: string,
): Promise<Checkpoint | undefined> {
  const text = await store.readCheckpoint();
  if (text === undefined) return undefined;
  const checkpoint = parseCheckpoint(parseNote(text).text);
  const refuse = (reason: string): CountersignError =>
    new CountersignError("ERR_LOG_INCONSISTENT", `the log contradicts its checkpoint: ${reason}`, {
      size: checkpoint.size,
      reason,
    });
  if (checkpoint.origin !== origin) throw refuse("another origin");
  const head = await store.head();
  if (head.size < checkpoint.size) throw refuse("entries are missing");
  if (!equalBytes(await storedRoot(store, checkpoint.size), checkpoint.root)) {
    throw refuse("another root");
  }
  return checkpoint;
}

/** Signs and stores a checkpoint of everything acknowledged so far. */
export async function makeCheckpoint(
  store: ReceiptStore,
  origin: string,
  signer: MessageSigner,
): Promise<{ checkpoint: Checkpoint; text: string }> {
  const head = await store.head();
  const checkpoint = { origin, size: head.size, root: frontierRoot(head) };
  const text = await signCheckpoint(checkpoint, signer);
  await store.writeCheckpoint(text, head.size);
  return { checkpoint, text };
}
