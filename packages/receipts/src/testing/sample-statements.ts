import { createNoteKey, encodeVkey } from "../note/vkey.js";
import type { NumberedEntry, StatementSource } from "../export/write-statements.js";
import { tilePath } from "../tiles/path.js";
import type { SampleLog } from "./sample-log.js";
import { SAMPLE_ORIGIN, sampleSigner, treeFiles } from "./sample-log.js";

/** The source of a statement export of a sample log. */
export function statementSource(
  log: SampleLog,
  issuer = sampleSigner(log.receiptKeys.length === 1 ? 7 : 8),
): StatementSource & { readonly first: number } {
  const tiles = treeFiles(log.entries);
  return {
    checkpoint: log.checkpoint,
    vkey: encodeVkey(createNoteKey(SAMPLE_ORIGIN, sampleSigner(9).publicKey)),
    keys: log.keys,
    readTile: (tile) => {
      const bytes = tiles.get(tilePath(tile));
      if (bytes === undefined) throw new TypeError("no such tile");
      return bytes;
    },
    issuer,
    log: sampleSigner(9),
    first: 0,
  };
}

/** All entries of a sample log, with their numbers. */
export function numbered(log: SampleLog): NumberedEntry[] {
  return log.entries.map((bytes, seq) => ({ seq, bytes }));
}
