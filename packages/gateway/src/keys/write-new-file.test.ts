import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openAdminToken, openKey } from "./key-directory.js";
import { writeNewFile } from "./write-file.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "countersign-keys-"));
});
afterEach(() => rm(home, { recursive: true }));

test("a new file has its content and is private to its owner; an existing one stays as it was", async () => {
  const file = join(home, "a");
  await writeNewFile(file, "one", 0o600);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await expect(writeNewFile(file, "two", 0o600)).rejects.toMatchObject({ code: "EEXIST" });
  expect(await readFile(file, "utf8")).toBe("one");
});

test("a file that cannot be written is reported with its path", async () => {
  const file = join(home, "missing", "a");
  const failure: unknown = await writeNewFile(file, "x", 0o600).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "ERR_KEYS_UNWRITABLE", facts: { file } });
});

test("a failed write of a key leaves no file, so that the next start creates one", async () => {
  // An invalid content fails after the file is opened, as a full disk does.
  const failing = writeNewFile(join(home, "a"), Symbol("full") as unknown as string, 0o600);
  await expect(failing).rejects.toMatchObject({ code: "ERR_KEYS_UNWRITABLE" });
  expect(await readdir(home)).toEqual([]);
  await openKey(home, "issuer");
  expect(await readdir(home)).toEqual(["issuer.pem"]);
});

test("a truncated hash of the admin token is reported at the start", async () => {
  const admin = await openAdminToken(home);
  await admin.keep();
  expect((await openAdminToken(home)).matches(admin.fresh ?? "")).toBe(true);
  const file = join(home, "admin-token.sha256");
  for (const text of ["", (await readFile(file, "utf8")).slice(1)]) {
    await writeFile(file, text);
    await expect(openAdminToken(home)).rejects.toMatchObject({ code: "ERR_KEYS_UNREADABLE" });
  }
});
