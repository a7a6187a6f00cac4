import { execFileSync } from "node:child_process";
import { mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { assertRegularFile, readRegularFile } from "./files.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-file-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("a file is read whole up to its limit, also through a link; one byte more is rejected", async () => {
  const file = join(folder, "a");
  const link = join(folder, "link");
  await symlink("a", link);
  for (const size of [0, 1, 65_535, 65_536, 200_000]) {
    await writeFile(file, Buffer.alloc(size, 7));
    expect(readRegularFile(link, size).equals(Buffer.alloc(size, 7))).toBe(true);
  }
  expect(() => readRegularFile(file, 199_999)).toThrow(
    expect.objectContaining({ code: "ERR_FILE_TOO_LARGE", facts: { file, limit: 199_999 } }),
  );
});

test("a file of a gigabyte is rejected by its size alone", async () => {
  const file = join(folder, "a");
  await writeFile(file, "");
  await truncate(file, 2 ** 30);
  expect(() => readRegularFile(file, 1000)).toThrow("larger than 1000 bytes");
});

test("a pipe without a writer, a device and a directory are rejected at once", () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const file of [pipe, "/dev/zero", folder]) {
    const refusal = expect.objectContaining({ code: "ERR_FILE_KIND", facts: { file } }) as Error;
    expect(() => readRegularFile(file, 1000)).toThrow(refusal);
    expect(() => assertRegularFile(file)).toThrow(refusal);
  }
  assertRegularFile(join(folder, "missing"));
});

test.skipIf(process.platform !== "linux")(
  "a file that reports no size is limited while it is read",
  () => {
    expect(readRegularFile("/proc/self/status", 100_000).byteLength).toBeGreaterThan(100);
    expect(() => readRegularFile("/proc/self/status", 100)).toThrow("larger than 100 bytes");
  },
);
