import { equalBytes } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import { storedRoot } from "../log/checkpoints.js";
import { leafHash } from "../merkle/hash.js";
import { createTreeBuilder, frontierRoot } from "../merkle/tree.js";
import type { ReceiptStore } from "../store/store.js";

/**
 * Reads a whole store and checks it for consistency: entries, sequence, tree from leaves, tree from
 * tiles.
 */
export async function checkWholeLog(
  store: Pick<ReceiptStore, "head" | "readEntries" | "readTile">,
): Promise<LogEntry[]> {
  const head = await store.head();
  const tree = createTreeBuilder();
  const entries: LogEntry[] = [];
  for (let start = 0; start < head.size; start += 1_000) {
    const end = Math.min(head.size, start + 1_000);
    for (const bytes of await store.readEntries(start, end)) {
      const entry = decodeEntry(bytes);
      if (entry.seq !== entries.length)
        throw new Error(`entry ${entries.length} says ${entry.seq}`);
      tree.append(leafHash(bytes));
      entries.push(entry);
    }
  }
  if (!equalBytes(tree.root(), frontierRoot(head)))
    throw new Error("root of leaves is not the head's");
  const fromTiles = await storedRoot(store as ReceiptStore, head.size);
  if (!equalBytes(fromTiles, frontierRoot(head)))
    throw new Error("root of tiles is not the head's");
  return entries;
}
