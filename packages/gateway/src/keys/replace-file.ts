import { open, rename } from "node:fs/promises";

/**
 * Replaces the content of a file atomically: writes a temporary file, flushes it to disk and renames it.
 *
 * Without the flush a power loss may keep the new name and lose the content, and an empty file is worse than the old
 * one.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const beside = `${file}.new`;
  const handle = await open(beside, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, file);
}
