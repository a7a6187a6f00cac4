export { encodeCheckpoint, parseCheckpoint } from "./checkpoint/checkpoint.js";
export type { Checkpoint } from "./checkpoint/checkpoint.js";
export { signCheckpoint } from "./checkpoint/sign-checkpoint.js";
export { openCheckpoint } from "./checkpoint/verify-checkpoint.js";
export type { OpenedCheckpoint } from "./checkpoint/verify-checkpoint.js";
export { decodeEntry } from "./entry/decode-entry.js";
export { encodeEntry } from "./entry/encode-entry.js";
export { MAX_ENTRY_BYTES } from "./entry/entry.js";
export type { Direction, LogEntry, PolicyMode } from "./entry/entry.js";
export { encodeKeyRecord, parseKeyHistory } from "./keys/history.js";
export type { KeyRecord, KeyRecordBody } from "./keys/history.js";
export {
  encodeKeyText,
  encodeSignatureText,
  parseKeyText,
  parseSignatureText,
} from "./keys/key-text.js";
export { extendKeyHistory, startKeyHistory } from "./keys/rotate.js";
export type { KeyRecordFacts } from "./keys/rotate.js";
export { findBrokenRecord, keyPeriods, trustedThroughHistory } from "./keys/verify-history.js";
export type { BrokenHistory } from "./keys/verify-history.js";
export { EMPTY_ROOT, leafHash, nodeHash } from "./merkle/hash.js";
export { proveConsistency, proveInclusion, rootFromNodes } from "./merkle/prove.js";
export type { NodeReader } from "./merkle/prove.js";
export { createTreeBuilder, frontierRoot } from "./merkle/tree.js";
export type { Frontier, TreeBuilder } from "./merkle/tree.js";
export { verifyConsistency, verifyInclusion } from "./merkle/verify-proof.js";
export { encodeNote, parseNote } from "./note/note.js";
export type { Note, NoteSignature } from "./note/note.js";
export { signNote } from "./note/sign-note.js";
export type { MessageSigner } from "./note/sign-note.js";
export { verifyNote } from "./note/verify-note.js";
export type { SignatureVerifier, VerifiedNote } from "./note/verify-note.js";
export { createNoteKey, encodeVkey, NOTE_COSIGNATURE, parseVkey } from "./note/vkey.js";
export type { NoteKey } from "./note/vkey.js";
export { encodeProof, parseProof } from "./proof/tlog-proof.js";
export type { TlogProof } from "./proof/tlog-proof.js";
export { MAX_BATCH_SIZE, parseBatchSignature } from "./receipt/batch-signature.js";
export type { BatchSignature } from "./receipt/batch-signature.js";
export { buildBatch, prepareBatch } from "./receipt/build-batch.js";
export type { PreparedBatch } from "./receipt/build-batch.js";
export { encodeReceipt, encodeReceiptBody, receiptBody } from "./receipt/encode-receipt.js";
export { eventPayload, payloadHash } from "./receipt/payload.js";
export { NO_CAPABILITY } from "./receipt/receipt.js";
export type {
  AgUiReceipt,
  AgUiReceiptBody,
  ReceiptTarget,
  ReceiptTransport,
} from "./receipt/receipt.js";
export { createTileBuilder } from "./tiles/build.js";
export type { HashTile, TileBuilder } from "./tiles/build.js";
export { decodeBundle, decodeTile, encodeBundle, encodeTile } from "./tiles/bundle.js";
export { hashesAtLevel, tileLevels, tilesForGrowth, tileWidth } from "./tiles/layout.js";
export { createTileNodeReader } from "./tiles/nodes.js";
export type { TileReader } from "./tiles/nodes.js";
export { entriesPath, parseTilePath, TILE_WIDTH, tilePath } from "./tiles/path.js";
export type { TileName } from "./tiles/path.js";
