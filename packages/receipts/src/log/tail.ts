import { equalBytes } from "@countersign/core";
import { HASH_BYTES, leafHash } from "../merkle/hash.js";
import { frontierRoot } from "../merkle/tree.js";
import { corrupt } from "../store/failure.js";
import type { ReceiptStore } from "../store/store.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { storedRoot } from "./checkpoints.js";
import { assertSealed } from "./seal.js";
import type { KnownHead, LogSeal } from "./seal.js";

/**
 * Rejects entries after the last checkpoint unless they end in the log's own seal and match the
 * sealed tree: the next checkpoint would sign them.
 */
export async function assertTail(
  store: ReceiptStore,
  seal: LogSeal,
  covered: KnownHead | undefined,
): Promise<void> {
  const head = await store.head();
  assertSealed(seal, head, covered);
  const from = covered?.size ?? 0;
  if (head.size === from) return;
  if (!equalBytes(await storedRoot(store, head.size), frontierRoot(head))) {
    throw corrupt(from, "the tiles are those of another tree");
  }
  for (let first = from; first < head.size;) {
    const index = Math.floor(first / TILE_WIDTH);
    const start = index * TILE_WIDTH;
    const width = Math.min(TILE_WIDTH, head.size - start);
    const tile = await store.readTile({ level: 0, index, width });
    const entries = await store.readEntries(first, start + width);
    for (const [offset, bytes] of entries.entries()) {
      const at = (first - start + offset) * HASH_BYTES;
      if (equalBytes(leafHash(bytes), tile.subarray(at, at + HASH_BYTES))) continue;
      throw corrupt(first + offset, "the entry does not hash to its leaf");
    }
    first = start + width;
  }
}
