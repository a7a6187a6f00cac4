import { mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { replaceFile } from "./write-file.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "countersign-replace-"));
});
afterEach(() => rm(home, { recursive: true }));

test("the new content replaces the old only after it is flushed to disk", async () => {
  const file = join(home, "a");
  await writeFile(file, "old");
  const handle = await open(file);
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const flushed: string[][] = [];
  const sync = vi.spyOn(prototype, "sync").mockImplementation(async () => {
    flushed.push([await readFile(file, "utf8"), await readFile(`${file}.new`, "utf8")]);
  });
  try {
    await replaceFile(file, "new");
  } finally {
    sync.mockRestore();
  }
  expect(flushed).toEqual([["old", "new"]]);
  expect(await readFile(file, "utf8")).toBe("new");
  expect(await readdir(home)).toEqual(["a"]);
});

test("a failed write leaves the old content", async () => {
  const file = join(home, "a");
  await writeFile(file, "old");
  await expect(replaceFile(file, Symbol("full") as unknown as string)).rejects.toThrow();
  expect(await readFile(file, "utf8")).toBe("old");
});
