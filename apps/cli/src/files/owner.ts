import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Gives a file or folder that root has just made to the owner of the folder it lies in: a gateway that runs
 * as that user could not read it otherwise. Does nothing for other users.
 *
 * A folder's owner may replace the file with a link meanwhile; neither kind of link reaches another user's
 * file.
 */
export function giveToFolderOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const folder = statSync(dirname(resolve(path)));
  const descriptor = openSync(
    path,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    const made = fstatSync(descriptor);
    const isLinked = made.isFile() && made.nlink !== 1;
    if (made.uid === 0 && !isLinked) fchownSync(descriptor, folder.uid, folder.gid);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes a folder that only its owner can enter, with those above it; each belongs to whom the one above belongs. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const made: string[] = [];
  for (let folder = resolve(path); folder !== dirname(first); folder = dirname(folder)) {
    made.unshift(folder);
  }
  for (const folder of made) giveToFolderOwner(folder);
}
