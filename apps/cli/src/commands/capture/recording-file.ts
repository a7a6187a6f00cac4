import {
  closeSync,
  createWriteStream,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { PassThrough } from "node:stream";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";

/** A recording on its way to a file. */
export type RecordingFile = {
  readonly stream: Writable;
  /** From now on the file is written; what it held before is gone. */
  begin(): void;
  /** Resolves when everything is in the file. */
  finish(): Promise<void>;
  /** Leaves things as they were, if nothing was written yet. */
  abandon(): void;
};

/** A recording holds conversations. */
const OWNER_ONLY = 0o600;

/**
 * Opens the file of a recording without touching what it holds: a capture that does not come about, because its port
 * is taken or its session refused, must not cost the recording that is there.
 *
 * @throws TypeError when there is a file already and it may not be replaced
 */
export function openRecordingFile(file: string, mayReplace: boolean): RecordingFile {
  const known = statSync(file, { throwIfNoEntry: false });
  if (known?.isFile() === true && !mayReplace) {
    throw new TypeError(
      `${file} exists. Fix: add --force to overwrite it, or name another file with --out`,
    );
  }
  const descriptor = openSync(file, known === undefined ? "wx" : "a", OWNER_ONLY);
  const stream = new PassThrough();
  let writing: Promise<void> | undefined;
  const begin = (): void => {
    if (writing !== undefined) return;
    if (fstatSync(descriptor).isFile()) ftruncateSync(descriptor);
    writing = finished(stream.pipe(createWriteStream(file, { fd: descriptor })));
    // A disk that fills up is told at the end; until then what passes is let go.
    writing.catch(() => stream.resume());
  };
  return {
    stream,
    begin,
    finish: async () => {
      begin();
      stream.end();
      await writing;
    },
    abandon: () => {
      if (writing !== undefined) {
        stream.end();
        return;
      }
      closeSync(descriptor);
      if (known === undefined) unlinkSync(file);
    },
  };
}
