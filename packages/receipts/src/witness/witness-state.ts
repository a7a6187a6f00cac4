import { join } from "node:path";
import { CountersignError, isCountersignError } from "@countersign/core";
import { lockDirectory } from "../bundles/lock.js";
import { nodeDisk } from "../bundles/disk.js";
import type { Disk } from "../bundles/disk.js";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import { parseNote } from "../note/note.js";
import "./errors.js";
import { originHash } from "./add-checkpoint.js";

/** The newest cosigned checkpoint of each log. */
export type WitnessState = {
  read(origin: string): Promise<string | undefined>;
  /** Resolves when a power failure cannot undo the change. */
  write(origin: string, note: string): Promise<void>;
};

/** A state in files, and its release. */
export type FileState = WitnessState & { close(): Promise<void> };

/**
 * Keeps one file per log and reads it again for every request: after a failed write the file tells
 * what is true. A second process on the directory is rejected.
 */
export async function openFileState(directory: string, disk: Disk = nodeDisk): Promise<FileState> {
  await disk.makeDirectory(directory);
  const unlock = await lockDirectory(join(directory, "lock")).catch((error: unknown) => {
    if (!isCountersignError(error, "ERR_STORE_LOCKED")) throw error;
    throw new CountersignError(
      "ERR_WITNESS_LOCKED",
      `another process runs this witness: ${directory} is locked. Fix: stop that process, or name another directory`,
      { directory },
      { cause: error },
    );
  });
  const fileOf = (origin: string): string => join(directory, `${originHash(origin)}.checkpoint`);
  return {
    async read(origin) {
      const file = fileOf(origin);
      const text = await disk.readText(file);
      if (text !== undefined) assertCheckpointOf(origin, text, file);
      return text;
    },
    write: (origin, note) => disk.replace(fileOf(origin), note),
    close: unlock,
  };
}

/** The newest cosigned checkpoint of a log in a directory that a witness may have open. */
export function readWitnessState(directory: string, origin: string): Promise<string | undefined> {
  return nodeDisk.readText(join(directory, `${originHash(origin)}.checkpoint`));
}

/** A damaged file must not count as a log that the witness never saw. */
function assertCheckpointOf(origin: string, text: string, file: string): void {
  let reason = "it is of another log";
  try {
    if (parseCheckpoint(parseNote(text).text).origin === origin) return;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    reason = error.message;
  }
  throw new CountersignError(
    "ERR_WITNESS_FILE",
    `${file} cannot be used: ${reason}. Fix: retire this witness key; a witness that forgot a log must not sign for it again`,
    { file, reason },
  );
}
