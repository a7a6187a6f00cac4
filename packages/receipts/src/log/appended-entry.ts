import { decodeEntry } from "../entry/decode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import type { SignedGroup } from "../sign/group.js";
import { receiptId } from "../entry/draft.js";

const LENGTH_BYTES = 2;

/** An acknowledged append. */
export class AppendedEntry {
  // Declared, not defined: one instance per append, and defining fields on it (private ones above
  // all) takes the runtime's slow path, several microseconds each.
  /** Position in the log. */
  declare readonly seq: number;
  /** Id of the receipt. */
  get id(): string {
    return receiptId(this.eventId);
  }
  /** @internal */
  declare readonly eventId: string;
  /** @internal */
  declare readonly group: SignedGroup;
  /** @internal */
  declare readonly index: number;

  /** @internal */
  constructor(seq: number, eventId: string, group: SignedGroup, index: number) {
    this.seq = seq;
    this.eventId = eventId;
    this.group = group;
    this.index = index;
  }

  /** The leaf bytes: canonical JSON of the entry. A view of its group's buffer. */
  get bytes(): Uint8Array {
    const { records, places } = this.group;
    const start = this.index === 0 ? 0 : (places[this.index * 2 - 1] as number);
    return records.subarray(start + LENGTH_BYTES, places[this.index * 2 + 1]);
  }

  /** The entry with its signed receipt. */
  get entry(): LogEntry {
    return decodeEntry(this.bytes);
  }
}
