import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findExposedKeys } from "./exposed-keys.js";
import { openKey } from "./key-directory.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "countersign-exposed-"));
});
afterEach(() => rm(home, { recursive: true }));

test("keys that the gateway made are its owner's alone; whose mode lets others in is told", async () => {
  for (const purpose of ["receipts", "checkpoint", "issuer"] as const) await openKey(home, purpose);
  expect(findExposedKeys(home)).toEqual([]);
  const file = join(home, "issuer.pem");
  for (const mode of ["0640", "0604", "0610", "0620", "0644"]) {
    await chmod(file, Number.parseInt(mode, 8));
    expect(findExposedKeys(home)).toEqual([{ file, mode }]);
  }
});

test("keys retired and still to come count, what is no private key of ours does not", async () => {
  for (const name of ["receipts-retired-0.pem", "receipts-next.pem", "cert.pem", "keys.jsonl"]) {
    await writeFile(join(home, name), "");
    await chmod(join(home, name), 0o644);
  }
  expect(findExposedKeys(home).map(({ file }) => file)).toEqual([
    join(home, "receipts-next.pem"),
    join(home, "receipts-retired-0.pem"),
  ]);
});

test("a directory that is not there has none", () => {
  expect(findExposedKeys(join(home, "missing"))).toEqual([]);
});
