import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findExposedKeys } from "./exposed-keys.js";
import { openAdminToken, openKey } from "./key-directory.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "countersign-exposed-"));
});
afterEach(() => rm(home, { recursive: true }));

test("keys that the gateway creates are private to their owner; a mode that lets others in is reported", async () => {
  for (const purpose of ["receipts", "checkpoint", "issuer"] as const) await openKey(home, purpose);
  expect(findExposedKeys(home)).toEqual([]);
  const file = join(home, "issuer.pem");
  for (const mode of ["0640", "0604", "0610", "0620", "0644"]) {
    await chmod(file, Number.parseInt(mode, 8));
    expect(findExposedKeys(home)).toEqual([{ file, mode, rights: "read", remedy: "chmod 600" }]);
  }
});

test("retired and future keys are checked; other files are not", async () => {
  for (const name of ["receipts-retired-0.pem", "receipts-next.pem", "cert.pem", "keys.jsonl"]) {
    await writeFile(join(home, name), "");
    await chmod(join(home, name), 0o644);
  }
  expect(findExposedKeys(home).map(({ file }) => file)).toEqual([
    join(home, "receipts-next.pem"),
    join(home, "receipts-retired-0.pem"),
  ]);
});

test("a directory or admin token hash that others may change is reported; one under a sticky mount is not", async () => {
  const hash = join(home, "admin-token.sha256");
  await writeFile(hash, "");
  await chmod(hash, 0o644);
  await chmod(home, 0o755);
  expect(findExposedKeys(home)).toEqual([]);
  await chmod(hash, 0o666);
  await chmod(home, 0o777);
  expect(findExposedKeys(home)).toEqual([
    { file: home, mode: "0777", rights: "changed", remedy: "chmod 700" },
    { file: hash, mode: "0666", rights: "changed", remedy: "chmod 600" },
  ]);
  await chmod(home, 0o1777);
  expect(findExposedKeys(home).map(({ file }) => file)).toEqual([hash]);
});

test.skipIf(process.platform === "win32")(
  "a named pipe in place of a key or of the admin token's hash fails the start instead of blocking it",
  async () => {
    for (const name of ["issuer.pem", "admin-token.sha256"]) {
      execFileSync("mkfifo", [join(home, name)]);
    }
    await expect(openKey(home, "issuer")).rejects.toThrow(/cannot be used/u);
    await expect(openAdminToken(home)).rejects.toThrow(/not a regular file/u);
  },
);

test("a missing directory has no exposed keys", () => {
  expect(findExposedKeys(join(home, "missing"))).toEqual([]);
});
