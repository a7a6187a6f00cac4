import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { CountersignError } from "@countersign/core";
import "./errors.js";

/**
 * Writes a file that must not be there yet, whole and through to the medium, or leaves nothing.
 *
 * Half a key would keep every later start from succeeding, and what it signs is durable: it must be, too.
 *
 * @throws the system's own error when the file is there, `ERR_KEYS_UNWRITABLE` for everything else
 */
export async function writeNewFile(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? error : unwritable(file, error);
  });
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await rm(file, { force: true });
    throw unwritable(file, error as NodeJS.ErrnoException);
  } finally {
    await handle.close();
  }
  await syncDirectory(dirname(file));
}

function unwritable(file: string, { code, name }: NodeJS.ErrnoException): CountersignError {
  const message = `${file} cannot be written (${code ?? name})`;
  return new CountersignError("ERR_KEYS_UNWRITABLE", message, { file });
}

/** A name is durable only when its directory is; where a directory cannot be opened, the system sees to it. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r").catch(() => undefined);
  if (handle === undefined) return;
  try {
    await handle.sync();
  } catch {
    // Some file systems know no such thing.
  } finally {
    await handle.close();
  }
}
