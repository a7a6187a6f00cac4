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
  let isDone = false;
  const readMore = async (): Promise<void> => {
    const piece = await iterator.next();
    if (piece.done === true) isDone = true;
    else rest = rest.length === 0 ? piece.value : concatBytes(rest, piece.value);
  };
  return {
    async take(count) {
      let found = 0;
      let end = 0;
      let searched = 0;
      while (found < count) {
        const feed = rest.indexOf(LINE_FEED, searched);
        if (feed >= 0) {
          found += 1;
          end = feed + 1;
          searched = end;
          continue;
        }
        searched = rest.length;
        if (rest.length - end > MAX_ENTRY_BYTES) isDone = true;
        if (isDone) {
          end = rest.length;
          break;
        }
        await readMore();
      }
      const lines = rest.subarray(0, end);
      rest = rest.subarray(end);
      return lines;
    },
    async close() {
      await iterator.return?.();
    },
  };
}
