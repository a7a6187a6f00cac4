import { open, rename } from "node:fs/promises";

/**
 * Gives a file a new text, whole or not at all: written beside it and through to the medium, then renamed.
 *
 * Without the flush a power cut may keep the new name and lose the text, and an empty file is worse than the old one.
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
