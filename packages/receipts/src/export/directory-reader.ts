import { open } from "node:fs/promises";
import { join } from "node:path";
import type { ExportReader } from "../verify/reader.js";
import { exportError } from "./errors.js";

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Reads an export, or a live log in the C2SP layout, from a directory. */
export function createDirectoryReader(directory: string): ExportReader {
  return {
    async read(path, maxBytes) {
      try {
        const file = await open(join(directory, path), "r");
        try {
          const { size } = await file.stat();
          if (size > maxBytes) {
            throw exportError("ERR_EXPORT_TOO_LARGE", "a file is larger than it can be", {
              path,
              limit: maxBytes,
            });
          }
          return await file.readFile();
        } finally {
          await file.close();
        }
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async stream(path) {
      try {
        const file = await open(join(directory, path), "r");
        return file.createReadStream({ highWaterMark: 256 * 1024 });
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
  };
}
