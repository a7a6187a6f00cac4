import { concatBytes, sha256Hex } from "@countersign/core";
import { MAX_ENTRY_BYTES } from "../entry/entry.js";

/** A run of lines, each with its line feed, and how many there were. */
export type LineGroup = {
  readonly count: number;
  readonly hash: string;
  readonly lines: Uint8Array[];
};

const LINE_FEED = 0x0a;

/** Takes lines off a stream of bytes in groups, holding no more than one group. */
export type LineGroups = {
  /** The next `count` lines, fewer at the end. A line that is too long ends the file. */
  take(count: number): Promise<LineGroup>;
  /** Lets go of the file. */
  close(): Promise<void>;
};

/** Cuts a stream of bytes into groups of lines. */
export function createLineGroups(source: AsyncIterable<Uint8Array>): LineGroups {
  const iterator = source[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  let isDone = false;
  const nextLine = async (): Promise<Uint8Array | undefined> => {
    let searched = 0;
    for (;;) {
      const end = rest.indexOf(LINE_FEED, searched);
      if (end >= 0) {
        const line = rest.subarray(0, end + 1);
        rest = rest.subarray(end + 1);
        return line;
      }
      if (isDone || rest.length > MAX_ENTRY_BYTES) {
        const line = rest;
        isDone = true;
        rest = new Uint8Array(0);
        return line.length === 0 ? undefined : line;
      }
      searched = rest.length;
      const piece = await iterator.next();
      if (piece.done === true) isDone = true;
      else rest = rest.length === 0 ? piece.value : concatBytes(rest, piece.value);
    }
  };
  return {
    async take(count) {
      const lines: Uint8Array[] = [];
      while (lines.length < count) {
        const line = await nextLine();
        if (line === undefined) break;
        lines.push(line);
      }
      return { count: lines.length, hash: sha256Hex(concatBytes(...lines)), lines };
    },
    async close() {
      await iterator.return?.();
    },
  };
}
