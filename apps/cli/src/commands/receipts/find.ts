import { CountersignError } from "@countersign/core";
import { parseCheckpoint, parseNote } from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import { decodeAttestations } from "@countersign/receipts/witness";
import "../errors.js";

/** An entry as it stands in the log. */
export type FoundEntry = { readonly seq: number; readonly bytes: Uint8Array };

/** Finds an entry by its number in the log or by its receipt id; of several, the newest. */
export async function findEntry(store: ReceiptStore, which: string): Promise<FoundEntry> {
  let seq = /^\d{1,15}$/.test(which) ? Number(which) : undefined;
  if (seq === undefined) {
    const { entries } = await store.query({ id: which }, { limit: 1 });
    seq = entries[0]?.seq;
  }
  const { size } = await store.head();
  if (seq === undefined || seq >= size) throw unknown(which, size);
  const [bytes] = await store.readEntries(seq, seq + 1);
  if (bytes === undefined) throw unknown(which, size);
  return { seq, bytes };
}

/** The newest signed checkpoint, and how many entries it signs for; `before` is taken where the store has none yet. */
export async function newestCheckpoint(
  store: ReceiptStore,
  before?: string,
): Promise<{ text: string; size: number }> {
  const text = (await store.readCheckpoint()) ?? before;
  if (text === undefined) {
    throw new CountersignError(
      "ERR_CLI_NO_CHECKPOINT",
      "the log has no signed checkpoint yet. Fix: start the gateway; it signs one every second while the log grows",
      {},
    );
  }
  return { text, size: parseCheckpoint(parseNote(text).text).size };
}

/** The newest checkpoint that witnesses cosigned. */
export async function witnessedCheckpoint(
  store: ReceiptStore,
): Promise<{ text: string; size: number }> {
  const { witnessed } = decodeAttestations(await store.readAttestations());
  if (witnessed !== undefined) {
    return { text: witnessed, size: parseCheckpoint(parseNote(witnessed).text).size };
  }
  throw new CountersignError(
    "ERR_CLI_NO_CHECKPOINT",
    "no witness has cosigned a checkpoint of this log. Fix: name witnesses in receipts.witnesses, and start the gateway",
    {},
  );
}

function unknown(which: string, size: number): CountersignError {
  const entries = size === 0 ? "it is empty" : `it holds entries 0 to ${size - 1}`;
  return new CountersignError(
    "ERR_CLI_NO_RECEIPT",
    `this log has no receipt ${which}; ${entries}`,
    {
      which,
    },
  );
}
