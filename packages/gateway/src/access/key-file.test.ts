import { createFakeClock } from "@countersign/testkit";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createKeyFile, readKeyFile } from "./key-file.js";
import { createApiKey } from "./new-api-key.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-keys-"));
  file = join(folder, "keys.txt");
});
afterEach(() => rmSync(folder, { recursive: true }));

const [ONE, TWO] = [`one ${createApiKey().hash}\n`, `two ${createApiKey().hash}\n`];

/** A list that follows the file, and looks at it whenever it is asked. */
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

test("a file that the system does not let us look at leaves the last good list in force, told once", () => {
  writeFileSync(file, ONE);
  const { names, warnings } = follow();
  rmSync(file);
  // Stands for every failure but absence: rights of the folder, a medium or a server that does not answer.
  symlinkSync(file, file);
  expect([names(), names()]).toEqual([["one"], ["one"]]);
  expect(warnings).toEqual([expect.stringMatching(/^ELOOP/)]);
  rmSync(file);
  expect(names()).toEqual([]);
});

test("a list that could not be read once is read at the next look: no revocation is lost", () => {
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

test("a list that is written while the first one is read is read at the next look", () => {
  writeFileSync(file, ONE + TWO);
  const read = vi.fn(readKeyFile).mockImplementationOnce(() => {
    const entries = readKeyFile(file);
    writeFileSync(file, TWO);
    return entries;
  });
  expect(follow(read).names()).toEqual(["two"]);
});
