export type { AppendedEntry } from "./appended-entry.js";
export { receiptId } from "./draft.js";
export type { EntryDraft, ReceiptDraft } from "./draft.js";
export { openLog } from "./open-log.js";
export type { LogOptions, ReceiptLog } from "./open-log.js";
export { proveEntry, proveGrowth } from "./prove-entry.js";
export type { Durability, ReceiptStore } from "../store/store.js";
