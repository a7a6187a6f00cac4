export { checkReceipts } from "./check-receipts.js";
export type { StreamCheck, StreamFault, StreamOptions } from "./check-receipts.js";
export type { PositionFault, ReceivedEvent } from "./positions.js";
export type { SignatureVerifier } from "../note/verify-note.js";
