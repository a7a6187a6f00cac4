import { MAX_READ_ENTRIES } from "../store/store.js";
import type { ReceiptStore } from "../store/store.js";

/**
 * The entries from number `size` to the end of the durable log. After a gateway was killed, these
 * are the entries after its last checkpoint: acknowledged, but not yet signed.
 */
export async function* readEntriesFrom(
  store: ReceiptStore,
  size: number,
): AsyncGenerator<Uint8Array> {
  const { size: end } = await store.head();
  for (let start = size; start < end; start += MAX_READ_ENTRIES) {
    yield* await store.readEntries(start, Math.min(end, start + MAX_READ_ENTRIES));
  }
  if (store.readTail !== undefined) yield* store.readTail();
}
