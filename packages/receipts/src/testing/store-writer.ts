import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import { leafHash } from "../merkle/hash.js";
import { createTreeBuilder } from "../merkle/tree.js";
import type { ReceiptStore } from "../store/store.js";
import { encodeBundle } from "../tiles/bundle.js";

/**
 * Appends entries like an attacker who can write to the store but has no key: everything is
 * consistent, commit and tree included. Too few to start a bundle or to fill a tile.
 */
export async function writeEntries(
  store: ReceiptStore,
  entries: readonly LogEntry[],
  seal?: Uint8Array,
): Promise<void> {
  await store.append((head) => {
    const tree = createTreeBuilder(head);
    const texts = entries.map((entry, index) =>
      Buffer.from(canonicalJson({ ...entry, seq: head.size + index } as unknown as JsonValue)),
    );
    const leaves = texts.map((text) => leafHash(text));
    for (const leaf of leaves) tree.append(leaf);
    return {
      count: entries.length,
      records: [encodeBundle(texts)],
      leaves,
      bundleStarts: head.size === 0 ? [0] : [],
      above: [],
      frontier: { ...tree.frontier(), seal },
      root: () => tree.root(),
      drafts: () => entries,
    };
  }, "strict");
}

/** The entries of a store from a number on. */
export async function entriesFrom(store: ReceiptStore, start: number): Promise<LogEntry[]> {
  const { size } = await store.head();
  return (await store.readEntries(start, size)).map((bytes) => decodeEntry(bytes));
}
