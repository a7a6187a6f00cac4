export { createByteAccount } from "./account.js";
export type { ByteAccount, ByteTotals } from "./account.js";
export { compareTransports } from "./compare.js";
export type { MessageExchange, TransportCost } from "./compare.js";
export { measureEvent, TRANSPORTS } from "./measure.js";
export type { EventBytes, Transport } from "./measure.js";
