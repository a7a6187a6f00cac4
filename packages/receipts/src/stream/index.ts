export { checkReceipts } from "./check-receipts.js";
export type { StreamCheck, StreamFault, StreamOptions } from "./check-receipts.js";
export type { PlaceFault, ShownEvent } from "./places.js";
export type { SignatureVerifier } from "../note/verify-note.js";
