import { existsSync } from "node:fs";
import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import type { ReceiptStore } from "@countersign/receipts/log";
import "../base/errors.js";
import { KEY_FILES, readHistory } from "../keys/key-history.js";

/**
 * Refuses a key directory that is an older copy. The store has the key history of its last writer; it must be a
 * prefix of ours. If another gateway has rotated the key, this one would sign with the retired key, and the log would
 * stay invalid.
 */
export async function assertNewestHistory(
  directory: string,
  store: Pick<ReceiptStore, "readKeyHistory">,
): Promise<void> {
  const file = join(directory, KEY_FILES.history);
  const stored = await store.readKeyHistory();
  if (stored === undefined) return;
  const own = existsSync(file) ? readHistory(directory) : "";
  if (own.startsWith(stored)) return;
  throw notNewest(file);
}

/**
 * Stores the key history, so that the other gateways of the log find it.
 *
 * @throws CountersignError `ERR_KEYS_HISTORY` when another gateway stored one meanwhile that ours does not extend
 */
export async function shareHistory(
  directory: string,
  store: Pick<ReceiptStore, "readKeyHistory" | "writeKeyHistory">,
): Promise<void> {
  const own = readHistory(directory);
  if ((await store.readKeyHistory()) === own || (await store.writeKeyHistory(own))) return;
  throw notNewest(join(directory, KEY_FILES.history));
}

function notNewest(file: string): CountersignError<"ERR_KEYS_HISTORY"> {
  return new CountersignError(
    "ERR_KEYS_HISTORY",
    `${file} is not the newest: the receipt key was rotated in another copy of this directory, which the store of the log knows; give this gateway that copy`,
    { file },
  );
}
