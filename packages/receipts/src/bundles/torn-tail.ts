import { join } from "node:path";
import type { Disk } from "./disk.js";

/** Bytes after the last good commit that were truncated: a write that a crash interrupted. */
export type TornTail = {
  /** Their position in the log. */
  readonly position: number;
  /** The number of the first entry among them. */
  readonly seq: number;
  readonly bytes: number;
  /** Complete entries among them. None of them was acknowledged. */
  readonly entries: number;
  /** The file with these bytes; undefined when they were too many or could not be saved. */
  readonly file: string | undefined;
};

/** Larger than any flush, except in a log that was tampered with. */
const MAX_KEPT_BYTES = 16 << 20;
/** Number of files to keep; the oldest is removed first. */
const MAX_KEPT = 8;
const NAME = /^\d{16}-\d+\.torn$/u;

/** Saves the bytes that will be truncated. A full disk must not prevent the log from opening. */
export async function saveTornTail(
  disk: Disk,
  directory: string,
  place: { readonly position: number; readonly seq: number },
  rest: Buffer,
): Promise<TornTail> {
  const facts = { ...place, bytes: rest.length, entries: wholeEntries(rest) };
  if (rest.length > MAX_KEPT_BYTES) return { ...facts, file: undefined };
  const folder = join(directory, "torn");
  try {
    await disk.makeDirectory(folder);
    const known = (await disk.list(folder)).filter((name) => NAME.test(name));
    const number = 1 + Math.max(0, ...known.map((name) => Number(name.slice(17, -5))));
    const name = `${String(place.position).padStart(16, "0")}-${number}.torn`;
    const file = await disk.open(join(folder, name), "create");
    try {
      await file.write([rest], 0);
      await file.sync();
    } finally {
      await file.close();
    }
    const byAge = [...known, name].toSorted(
      (left, right) => Number(left.slice(17, -5)) - Number(right.slice(17, -5)),
    );
    for (const old of byAge.slice(0, -MAX_KEPT)) await disk.remove(join(folder, old));
    return { ...facts, file: join(folder, name) };
  } catch {
    return { ...facts, file: undefined };
  }
}

function wholeEntries(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at + 2 <= bytes.length;) {
    const length = bytes.readUInt16BE(at);
    at += 2 + length;
    if (length === 0 || at > bytes.length) break;
    count += 1;
  }
  return count;
}
