import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { decodeEntry, parseCheckpoint, parseKeyHistory, parseNote } from "@countersign/receipts";
import type { KeyRecord } from "@countersign/receipts";
import { readBeyond } from "@countersign/receipts/log";
import type { ReceiptStore } from "@countersign/receipts/log";
import type { Verification } from "@countersign/receipts/verify";
import { verifyBeyond } from "@countersign/receipts/verify-node";
import "../keys/errors.js";
import { KEY_FILES } from "../keys/key-history.js";

const NOTHING_YET: Verification = { checks: [], valid: true, signerTrusted: null, signers: [] };

/**
 * Refuses a store in which somebody else wrote entries behind the last checkpoint. Those of a gateway that was killed are
 * signed with its keys; the next checkpoint would make others part of the log, and the log invalid for good.
 */
export async function assertSignedTail(directory: string, store: ReceiptStore): Promise<void> {
  const file = join(directory, KEY_FILES.history);
  if (!existsSync(file)) return;
  const history = parseKeyHistory(await readFile(file, "utf8"));
  const checkpoint = await store.readCheckpoint();
  const size = checkpoint === undefined ? 0 : parseCheckpoint(parseNote(checkpoint).text).size;
  await assertKnownKey(file, history, store, size);
  const found = await verifyBeyond(NOTHING_YET, size, readBeyond(store, size), { history });
  if (found.valid) return;
  const seq = found.firstBrokenIndex ?? size;
  throw new CountersignError(
    "ERR_KEYS_FOREIGN_ENTRY",
    `entry ${seq} of the store is not signed by a key of ${file}, and lies behind the last checkpoint: this gateway did not write it; restore the store from a copy`,
    { seq, file },
  );
}

/**
 * Refuses a key directory that is an older copy: where another gateway of the log has a new key by now, this one would
 * go on with the retired key, and the log would be invalid for good.
 */
async function assertKnownKey(
  file: string,
  history: readonly KeyRecord[],
  store: ReceiptStore,
  size: number,
): Promise<void> {
  const newest = size - 1;
  // A log may be older than its key history.
  if (newest < (history[0]?.first_entry ?? Number.POSITIVE_INFINITY)) return;
  const [bytes] = await store.readEntries(newest, size);
  const signer = bytes === undefined ? undefined : decodeEntry(bytes).receipt.kernel_key;
  if (signer === undefined || history.some(({ key }) => key === signer)) return;
  throw new CountersignError(
    "ERR_KEYS_HISTORY",
    `${file} does not know the key of entry ${newest} of the store: the receipt key was rotated at another gateway; give this one the same key directory`,
    { file },
  );
}
