import { createSigner, generateKey } from "@countersign/core/sign";
import { openLog } from "../log/open-log.js";
import type { LogOptions, ReceiptLog } from "../log/open-log.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import type { ReceiptStore } from "../store/store.js";
import { draftOf } from "./drafts.js";

/** The name of every log of the contract. */
export const ORIGIN = "contract.example/log";
const key = generateKey();
/** The key of its checkpoints. */
export const noteKey = generateKey();

/** A log over a store, with groups and flushes small enough that 600 entries take several. */
export async function logOver(
  store: ReceiptStore,
  more: Partial<LogOptions> = {},
): Promise<ReceiptLog> {
  return openLog({
    store,
    signer: await createInThreadSigner(key),
    checkpointSigner: createSigner(noteKey),
    origin: ORIGIN,
    checkpointInterval: 0,
    groupSize: 50,
    flushSize: 130,
    ...more,
  });
}

/** Appends drafts all at once and waits for them. */
export function fill(log: ReceiptLog, count: number, from = 0): Promise<unknown> {
  return Promise.all(
    Array.from({ length: count }, (_, number) => log.append(draftOf(from + number))),
  );
}
