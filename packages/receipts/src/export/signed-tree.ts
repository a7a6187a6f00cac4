import { equalBytes } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import type { NodeReader } from "../merkle/prove.js";
import { rootFromNodes } from "../merkle/prove.js";
import type { MessageSigner } from "../note/sign-note.js";
import { parseVkey } from "../note/vkey.js";
import type { TileReader } from "../tiles/nodes.js";
import { createTileNodeReader } from "../tiles/nodes.js";
import { exportError } from "./errors.js";

/** A log at its newest checkpoint, with the key that signed it. */
export type SignedTreeSource = {
  /** The newest signed checkpoint. */
  readonly checkpoint: string;
  /** The log's vkey. */
  readonly vkey: string;
  /** Reads a tile of the log. */
  readonly readTile: TileReader;
  /** Signs for the log: the key that signed the checkpoint. */
  readonly log: MessageSigner;
};

/** The tree of a checkpoint that the log signed before, and that its tiles lead to. */
export type SignedTree = {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  readonly read: NodeReader;
};

/** The entries of a log are not those of its checkpoint. */
export function mismatch(size: number, reason: string): Error {
  const message = `the entries do not fit the checkpoint: ${reason}`;
  return exportError("ERR_EXPORT_MISMATCH", message, { size, reason });
}

/**
 * Opens the tree that the log's key may sign again in another format. The key signs nothing but what
 * it signed before: two formats of one tree, never two trees.
 */
export async function openSignedTree(source: SignedTreeSource): Promise<SignedTree> {
  const key = parseVkey(source.vkey);
  const { origin, size, root } = await openCheckpoint(source.checkpoint, [key], verifyEd25519);
  if (!equalBytes(key.publicKey, source.log.publicKey)) {
    throw exportError("ERR_EXPORT_KEY", "the checkpoint key is not that of the log's vkey", {
      purpose: "checkpoint",
    });
  }
  const read = createTileNodeReader(size, source.readTile);
  if (size > 0 && !equalBytes(await rootFromNodes(size, read), root)) {
    throw mismatch(size, "another root");
  }
  return { origin, size, root, read };
}
