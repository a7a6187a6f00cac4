import { decodeEntry } from "../entry/decode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import type { SignedGroup } from "../sign/group.js";

/** An acknowledged append. */
export class AppendedEntry {
  // Declared, not defined: one of these is made for each append, and defining fields on it (private
  // ones above all) goes through the runtime's slow path, at several microseconds each.
  /** Position in the log. */
  declare readonly seq: number;
  /** Id of the receipt. */
  declare readonly id: string;
  /** @internal */
  declare readonly group: SignedGroup;
  /** @internal */
  declare readonly index: number;

  /** @internal */
  constructor(seq: number, id: string, group: SignedGroup, index: number) {
    this.seq = seq;
    this.id = id;
    this.group = group;
    this.index = index;
  }

  /** The leaf bytes: canonical JSON of the entry. Put together when asked for; most callers never do. */
  get bytes(): Uint8Array {
    const { bytes, cuts } = this.group;
    const start = this.index === 0 ? 0 : (cuts[this.index * 2 - 1] as number);
    const cut = cuts[this.index * 2] as number;
    const end = cuts[this.index * 2 + 1] as number;
    return Buffer.concat([
      bytes.subarray(start, cut),
      Buffer.from(String(this.seq)),
      bytes.subarray(cut, end),
    ]);
  }

  /** The entry with its signed receipt. */
  get entry(): LogEntry {
    return decodeEntry(this.bytes);
  }
}
