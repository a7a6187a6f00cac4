import { measureEvent } from "./measure.js";
import type { EventBytes, Transport } from "./measure.js";

/** The bytes of one stream so far. */
export interface ByteTotals extends EventBytes {
  /** Events counted. */
  readonly events: number;
}

/** Adds up the bytes of a stream. */
export interface ByteAccount {
  /** Counts one event (its JSON text, or the number of bytes of it) and returns what it cost. */
  add(json: string | number): EventBytes;
  /** The sums so far. */
  totals(): ByteTotals;
}

/** An account for one stream over one transport. */
export function createByteAccount(transport: Transport): ByteAccount {
  let events = 0;
  let payload = 0;
  let framing = 0;
  return {
    add(json) {
      const bytes = measureEvent(transport, json);
      events++;
      payload += bytes.payload;
      framing += bytes.framing;
      return bytes;
    },
    totals: () => ({ events, payload, framing, total: payload + framing }),
  };
}
