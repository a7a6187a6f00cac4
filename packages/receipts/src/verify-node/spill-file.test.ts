import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { openSpillFile } from "./spill-file.js";

type Move = (bytes: Uint8Array, offset: number, length: number, position: number) => unknown;

/** The prototype of every open file handle. */
let files: { write: Move; read: Move };
beforeAll(async () => {
  const file = await open(fileURLToPath(import.meta.url));
  files = Object.getPrototypeOf(file) as typeof files;
  await file.close();
});
afterEach(() => vi.restoreAllMocks());

/** From now on a call reads or writes at most this many bytes. */
function atMost(most: number, name: "write" | "read"): void {
  const whole = files[name];
  vi.spyOn(files, name).mockImplementation(function (
    this: FileHandle,
    bytes,
    offset,
    length,
    position,
  ) {
    return whole.call(this, bytes, offset, Math.min(length, most), position);
  });
}

const records = Uint32Array.from({ length: 600 }, (_, index) => index + 1);

for (const name of ["write", "read"] as const) {
  test(`the rest of a partial ${name} is not lost`, async () => {
    atMost(1_000, name);
    const spill = await openSpillFile();
    await spill.write(3, records);
    await spill.write(4, records.subarray(100));
    await spill.write(3, records.subarray(0, 7));
    expect(await spill.read(3)).toEqual([records, records.subarray(0, 7)]);
    expect(await spill.read(4)).toEqual([records.subarray(100)]);
    await spill.close();
  });

  test(`a ${name} that ends early is an error, not zeros`, async () => {
    const spill = await openSpillFile();
    if (name === "read") await spill.write(3, records);
    atMost(0, name);
    const moved = name === "read" ? spill.read(3) : spill.write(3, records);
    await expect(moved).rejects.toThrow("the temporary file");
    await spill.close();
  });
}
