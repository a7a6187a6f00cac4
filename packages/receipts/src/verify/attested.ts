import { isCountersignError } from "@countersign/core";
import type { OpenedCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { HASH_BYTES } from "../merkle/hash.js";
import { proveConsistency } from "../merkle/prove.js";
import { verifyConsistency } from "../merkle/verify-proof.js";
import { MAX_NOTE_BYTES } from "../note/note.js";
import { createTileNodeReader } from "../tiles/nodes.js";
import type { CheckpointOptions } from "./checkpoint.js";
import { checkCheckpoint } from "./checkpoint.js";
import type { ExportReader } from "./reader.js";
import { EXPORT_FILES, readTileFile } from "./reader.js";
import type { Check } from "./result.js";
import { failed, failedBy, held } from "./result.js";

/** Verifies the response of a timestamp authority for the text of a checkpoint. */
export type TimestampVerifier = (
  response: Uint8Array,
  text: string,
) => Promise<{ readonly time: number; readonly authority: string }>;

const MAX_TILE_BYTES = 8192;
const MAX_TIMESTAMP_BYTES = 64 * 1024;

/** The checkpoint of a file, if the log signed it and the export goes on from it. */
async function openOlder(
  reader: ExportReader,
  path: string,
  newest: OpenedCheckpoint,
  options: CheckpointOptions,
): Promise<{ checkpoint: OpenedCheckpoint; checks: readonly Check[] } | { reason: string }> {
  const bytes = await reader.read(path, MAX_NOTE_BYTES);
  if (bytes === undefined) return { reason: `${path} is missing` };
  const text = new TextDecoder().decode(bytes);
  const { checkpoint, checks } = await checkCheckpoint(text, options);
  if (checkpoint === undefined) return { reason: `${path}: ${checks.at(-1)?.detail ?? ""}` };
  const isStart =
    checkpoint.origin === newest.origin && (await isGrown(reader, checkpoint, newest));
  if (!isStart) return { reason: `${path} is not of the start of this log` };
  return { checkpoint, checks };
}

/** Whether the tiles prove that one tree is the start of the other. */
async function isGrown(
  reader: ExportReader,
  older: OpenedCheckpoint,
  newer: OpenedCheckpoint,
): Promise<boolean> {
  if (older.size > newer.size) return false;
  const nodes = createTileNodeReader(newer.size, async (tile) => {
    const file = await readTileFile(reader, tile, MAX_TILE_BYTES);
    // The full tile begins with the hashes of the partial one.
    return file?.bytes.subarray(0, tile.width * HASH_BYTES) ?? new Uint8Array(0);
  });
  try {
    const isWhole = older.size === 0 || older.size === newer.size;
    const proof = isWhole ? [] : await proveConsistency(older.size, newer.size, nodes);
    return verifyConsistency(older, newer, proof);
  } catch (error) {
    // A missing or short tile: other checks say so.
    if (isCountersignError(error) || error instanceof TypeError) return false;
    throw error;
  }
}

/**
 * The check of cosignatures of an export: of its checkpoint, or of the older one that the log
 * carries beside it. The detail names the entries that only the log vouches for.
 */
export async function checkWitnessedExport(
  reader: ExportReader,
  newest: OpenedCheckpoint,
  own: Check,
  options: CheckpointOptions,
): Promise<Check> {
  if (own.status === "held") return own;
  const found = await openOlder(reader, EXPORT_FILES.witnessed, newest, options);
  if ("reason" in found) return failed("witnesses", `${own.detail}; ${found.reason}`);
  const check = found.checks.find(({ id }) => id === "witnesses") ?? own;
  const rest = newest.size - found.checkpoint.size;
  if (check.status !== "held" || rest === 0) return check;
  const entries = rest === 1 ? "1 later entry is" : `${rest} later entries are`;
  return held("witnesses", `${check.detail}; ${entries} not witnessed yet`);
}

/** The check of the timestamp of an export. */
export async function checkTimestampedExport(
  reader: ExportReader,
  newest: OpenedCheckpoint,
  verify: TimestampVerifier,
  options: CheckpointOptions,
): Promise<Check> {
  const response = await reader.read(EXPORT_FILES.timestamp, MAX_TIMESTAMP_BYTES);
  if (response === undefined) return failed("timestamp", `${EXPORT_FILES.timestamp} is missing`);
  const { witnesses: _witnesses, older: _older, ...rest } = options;
  const found = await openOlder(reader, EXPORT_FILES.timestamped, newest, rest);
  if ("reason" in found) return failed("timestamp", found.reason);
  const { size, note } = found.checkpoint;
  try {
    const { time, authority } = await verify(response, note.text);
    const at = new Date(time).toISOString();
    return held("timestamp", `entries 0 to ${size - 1} existed at ${at}, by ${authority}`);
  } catch (error) {
    return failedBy("timestamp", error);
  }
}
