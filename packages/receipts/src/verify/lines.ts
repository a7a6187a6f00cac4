import { concatBytes } from "@countersign/core";
import { MAX_ENTRY_BYTES } from "../entry/entry.js";

const LINE_FEED = 0x0a;

/** Takes lines off a stream of bytes in groups, holding no more than one group. */
export type LineGroups = {
  /** The next `count` lines with their line feeds, fewer at the end; a line too long ends the file. */
  take(count: number): Promise<Uint8Array>;
  /** Lets go of the file. */
  close(): Promise<void>;
};

/** Cuts a stream of bytes into groups of lines. */
export function createLineGroups(source: AsyncIterable<Uint8Array>): LineGroups {
  const iterator = source[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  let searched = 0;
  let isDone = false;
  const cut = (length: number): Uint8Array => {
    const line = rest.subarray(0, length);
    rest = rest.subarray(length);
    searched = 0;
    return line;
  };
  /** A line that is there whole, without waiting; this runs once per entry. */
  const readyLine = (): Uint8Array | undefined => {
    const end = rest.indexOf(LINE_FEED, searched);
    if (end >= 0) return cut(end + 1);
    searched = rest.length;
    if (rest.length > MAX_ENTRY_BYTES) isDone = true;
    return isDone && rest.length > 0 ? cut(rest.length) : undefined;
  };
  const readMore = async (): Promise<void> => {
    const piece = await iterator.next();
    if (piece.done === true) isDone = true;
    else rest = rest.length === 0 ? piece.value : concatBytes(rest, piece.value);
  };
  return {
    async take(count) {
      const lines: Uint8Array[] = [];
      while (lines.length < count) {
        const line = readyLine();
        if (line !== undefined) lines.push(line);
        else if (isDone) break;
        else await readMore();
      }
      return concatBytes(...lines);
    },
    async close() {
      await iterator.return?.();
    },
  };
}
