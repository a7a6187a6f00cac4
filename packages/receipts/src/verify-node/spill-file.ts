import { open, mkdtemp, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Records that exceed the memory limit, by partition. */
export type SpillFile = {
  write(part: number, records: Uint32Array): Promise<void>;
  read(part: number): Promise<readonly Uint32Array[]>;
  close(): Promise<void>;
};

type Block = { readonly position: number; readonly bytes: number };

/** An unlinked temporary file: nothing is left however this process ends. */
export async function openSpillFile(): Promise<SpillFile> {
  const directory = await mkdtemp(join(tmpdir(), "countersign-verify-"));
  const file = await open(join(directory, "fingerprints"), "wx+", 0o600);
  await rm(directory, { recursive: true });
  const blocks = new Map<number, Block[]>();
  let end = 0;
  return {
    async write(part, records) {
      const bytes = new Uint8Array(records.buffer, records.byteOffset, records.byteLength);
      await writeAll(file, bytes, end);
      const known = blocks.get(part);
      const block = { position: end, bytes: bytes.length };
      if (known === undefined) blocks.set(part, [block]);
      else known.push(block);
      end += bytes.length;
    },
    read: (part) =>
      Promise.all(
        (blocks.get(part) ?? []).map(async ({ position, bytes }) => {
          const records = new Uint32Array(bytes / Uint32Array.BYTES_PER_ELEMENT);
          await readAll(file, new Uint8Array(records.buffer), position);
          return records;
        }),
      ),
    close: () => file.close(),
  };
}

/** A nearly full disk accepts part of a write without an error; only the next write fails. */
async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    if (bytesWritten === 0) throw new Error("the temporary file takes no more");
    done += bytesWritten;
  }
}

/** Zeros instead of fingerprints would hide duplicates, and count as duplicates themselves. */
async function readAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, position + done);
    if (bytesRead === 0) throw new Error("the temporary file has become shorter");
    done += bytesRead;
  }
}
