import { equalBytes } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import { utf8 } from "../receipt/canonical-text.js";
import { encodeReceipt } from "../receipt/encode-receipt.js";
import { MAX_BUNDLE_BYTES, splitBundle } from "../tiles/bundle.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { BundleReport } from "./bundle.js";
import type { LineGroup } from "./lines.js";
import { createLineGroups } from "./lines.js";
import type { ExportReader } from "./reader.js";
import { EXPORT_FILES, readTileFile } from "./reader.js";
import type { Check } from "./result.js";
import { failed, held, skipped } from "./result.js";

/** Compares `receipts.jsonl` with the entries, one bundle's worth of lines at a time. */
export type ReceiptsFileCheck = {
  append(report: BundleReport): Promise<void>;
  finish(): Promise<Check>;
};

const ID = "receipts-file";

/** The first line of a group that is not the receipt of its entry. */
async function firstDifference(
  reader: ExportReader,
  bundle: number,
  width: number,
  group: LineGroup,
): Promise<number> {
  const file = await readTileFile(
    reader,
    { level: "entries", index: bundle, width },
    MAX_BUNDLE_BYTES,
  );
  const { entries } = splitBundle(file?.bytes ?? new Uint8Array(0), TILE_WIDTH);
  for (const [offset, bytes] of entries.slice(0, width).entries()) {
    const line = group.lines[offset];
    const expected = utf8(`${encodeReceipt(decodeEntry(bytes).receipt)}\n`);
    if (line === undefined || !equalBytes(line, expected)) return bundle * TILE_WIDTH + offset;
  }
  return bundle * TILE_WIDTH + width;
}

/** Opens `receipts.jsonl` for comparison; an export without the file is still a log. */
export async function createReceiptsFileCheck(
  reader: ExportReader,
  size: number,
): Promise<ReceiptsFileCheck> {
  const source = await reader.stream(EXPORT_FILES.receipts);
  if (source === undefined) {
    return {
      append: async () => {},
      finish: async () => skipped(ID, "the file is not there"),
    };
  }
  const lines = createLineGroups(source);
  let compared = 0;
  let unread = 0;
  let broken: number | undefined;
  return {
    async append(report) {
      const width = Math.min(TILE_WIDTH, size - report.index * TILE_WIDTH);
      const group = await lines.take(width);
      if (report.linesHash === undefined) unread += width;
      else if (group.hash === report.linesHash) compared += width;
      else broken ??= await firstDifference(reader, report.index, width, group);
    },
    async finish() {
      const more = await lines.take(1);
      await lines.close();
      if (broken !== undefined) return failed(ID, `line ${broken + 1} differs`, broken);
      if (more.count > 0) return failed(ID, "more lines than entries", size);
      if (unread > 0) return skipped(ID, `${unread} entries could not be read to compare`);
      return held(ID, `${compared} lines`);
    },
  };
}
