import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs with an empty directory that is removed afterwards. */
export async function withDirectory<Value>(use: (path: string) => Promise<Value>): Promise<Value> {
  const path = await mkdtemp(join(tmpdir(), "countersign-receipts-"));
  try {
    return await use(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}
