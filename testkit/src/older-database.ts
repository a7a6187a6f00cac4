import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

const FILE = new URL("../fixtures/before-partitions.sql.gz", import.meta.url);
const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/** The log of the fixture, and what its writers knew. */
export const OLDER_DATABASE = {
  origin: "upgrade.example/log",
  entries: 3_000,
  /** Entries that were removed because of their age. */
  removed: 512,
  keys: { receipts: seed(1), checkpoint: seed(2), seal: seed(3) },
} as const;

/**
 * The statements that make a database as the version before partitions left it. It was written by
 * `scripts/dump-database.mjs` with the code of commit a460378b.
 */
export async function olderDatabase(): Promise<string[]> {
  const text = gunzipSync(await readFile(FILE)).toString();
  return text.split("\n").map((line) => JSON.parse(line) as string);
}
