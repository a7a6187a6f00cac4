import { createFakeClock } from "@countersign/testkit";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createKeyFile, readKeyFile } from "./key-file.js";
import { createApiKey } from "./api-keys.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-keys-"));
  file = join(folder, "keys.txt");
});
afterEach(() => rmSync(folder, { recursive: true }));

const [ONE, TWO] = [`one ${createApiKey().hash}\n`, `two ${createApiKey().hash}\n`];

/** A key list that checks its file on every access. */
function follow(read = readKeyFile) {
  const clock = createFakeClock();
  const warnings: string[] = [];
  const journal = {
    debug: () => {},
    info: () => {},
    warn: (facts: object) => void warnings.push((facts as { reason: string }).reason),
    error: () => {},
  };
  const list = createKeyFile(file, clock, journal, read);
  const names = () => {
    clock.advance(1000);
    return list().map(({ name }) => name);
  };
  return { names, warnings };
}

test("a file that cannot be inspected keeps the last valid list in force, reported once", () => {
  writeFileSync(file, ONE);
  const { names, warnings } = follow();
  rmSync(file);
  // Stands for every failure except absence: permissions of the directory, a disk or a server that does not respond.
  symlinkSync(file, file);
  expect([names(), names()]).toEqual([["one"], ["one"]]);
  expect(warnings).toEqual([expect.stringMatching(/^ELOOP/)]);
  rmSync(file);
  expect(names()).toEqual([]);
});

test("a failed read is retried at the next check, so that no revocation is lost", () => {
  writeFileSync(file, ONE + TWO);
  const read = vi.fn(readKeyFile);
  const { names } = follow(read);
  writeFileSync(file, TWO);
  read.mockImplementationOnce(() => {
    throw new Error("EMFILE: too many open files");
  });
  expect(names()).toEqual(["one", "two"]);
  expect(names()).toEqual(["two"]);
});

test("a list that is written during the first read is read at the next check", () => {
  writeFileSync(file, ONE + TWO);
  const read = vi.fn(readKeyFile).mockImplementationOnce(() => {
    const entries = readKeyFile(file);
    writeFileSync(file, TWO);
    return entries;
  });
  expect(follow(read).names()).toEqual(["two"]);
});
