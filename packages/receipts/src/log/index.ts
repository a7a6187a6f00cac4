export type { AppendedEntry } from "./appended-entry.js";
export { receiptId } from "../entry/draft.js";
export type { EntryDraft, HashedDraft, ReceiptDraft, TextDraft } from "../entry/draft.js";
export { assertIntact, openLog } from "./open-log.js";
export type { LogOptions, ReceiptLog } from "./open-log.js";
export { proveEntry, proveGrowth } from "./prove-entry.js";
export { readEntriesFrom } from "./read-entries-from.js";
export { findRetention, startRetention } from "./retention.js";
export type { Retention, RetentionOptions } from "./retention.js";
export { removedBefore, retentionReceipt } from "../entry/retention.js";
export { startScrub } from "./scrub.js";
export type { Damage, Scrub, ScrubOptions } from "./scrub.js";
export { createLogSeal } from "./seal.js";
export type { LogSeal } from "./seal.js";
export { importReceipt } from "../import/import-foreign.js";
export type { ForeignShape } from "../import/import-foreign.js";
export type { ForeignFilter, ForeignReceipt } from "../import/foreign.js";
export { ENTRY_COLUMNS } from "../query/query.js";
export type {
  CountRequest,
  CountRow,
  EntryColumn,
  EntryFilter,
  EntryPage,
  PageRequest,
} from "../query/query.js";
export type { AppendBatch, Durability, ReceiptStore, TileHash } from "../store/store.js";
