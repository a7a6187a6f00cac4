import { constants, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { ExportReader } from "../verify/reader.js";
import { exportError } from "./errors.js";

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * Opens a file of an export. An archive can contain pipes, whose reads block, and links to devices,
 * which never end: only regular files are read.
 */
async function openFile(directory: string, path: string): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(join(directory, path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw exportError("ERR_EXPORT_NOT_FILE", `${path} of the export is not a file`, { path });
}

/** Reads an export, or a live log in the C2SP layout, from a directory. */
export function createDirectoryReader(directory: string): ExportReader {
  return {
    async read(path, maxBytes) {
      const file = await openFile(directory, path);
      if (file === undefined) return undefined;
      try {
        const { size } = await file.stat();
        if (size > maxBytes) {
          throw exportError("ERR_EXPORT_TOO_LARGE", "a file is larger than it can be", {
            path,
            limit: maxBytes,
          });
        }
        // At most the known size is read; system files report size 0 and can be endless.
        return size === 0 ? new Uint8Array(0) : await file.readFile();
      } finally {
        await file.close();
      }
    },
    async stream(path) {
      const file = await openFile(directory, path);
      return file?.createReadStream({ highWaterMark: 256 * 1024 });
    },
  };
}
