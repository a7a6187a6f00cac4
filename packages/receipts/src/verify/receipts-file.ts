import { equalBytes } from "@countersign/core";
import { createLineGroups } from "./lines.js";
import type { ExportReader } from "./reader.js";
import { EXPORT_FILES } from "./reader.js";
import type { Tallies } from "./tally.js";
import { countFailed, countHeld } from "./tally.js";

/** Provides the lines of `receipts.jsonl` bundle by bundle. */
export type ReceiptsFile = {
  /** The lines of the next `count` entries; undefined when the file does not exist. */
  next(count: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Reports lines that belong to no entry of a log of this size. */
  finish(size: number, tallies: Tallies): Promise<void>;
  /** Closes the file, read to its end or not. */
  close(): Promise<void>;
};

const ID = "receipts-file";
const LINE_FEED = 0x0a;

/** Opens `receipts.jsonl`; an export without the file is still a log. */
export async function openReceiptsFile(reader: ExportReader): Promise<ReceiptsFile> {
  const source = await reader.stream(EXPORT_FILES.receipts);
  if (source === undefined) {
    return { next: async () => undefined, finish: async () => {}, close: async () => {} };
  }
  const lines = createLineGroups(source);
  return {
    next: (count) => lines.take(count),
    async finish(size, tallies) {
      const more = await lines.take(1);
      if (more.length > 0) countFailed(tallies, ID, size, "more lines than entries");
    },
    close: () => lines.close(),
  };
}

/** Compares lines with receipts, one after the other. */
export type LineComparison = {
  /** The receipt of the next entry; undefined when that entry could not be read. */
  compare(index: number, receipt: Uint8Array | undefined): void;
};

/** Iterates over the lines of one bundle. */
export function createLineComparison(
  lines: Uint8Array | undefined,
  tallies: Tallies,
): LineComparison {
  let at = 0;
  return {
    compare(index, receipt) {
      if (lines === undefined) return;
      const end = receipt === undefined ? -1 : at + receipt.length;
      const isEqual =
        receipt !== undefined &&
        lines[end] === LINE_FEED &&
        equalBytes(lines.subarray(at, end), receipt);
      if (isEqual) {
        countHeld(tallies, ID);
        at = end + 1;
        return;
      }
      if (receipt !== undefined) countFailed(tallies, ID, index, "the line is not the receipt");
      const next = lines.indexOf(LINE_FEED, at);
      at = next < 0 ? lines.length : next + 1;
    },
  };
}
