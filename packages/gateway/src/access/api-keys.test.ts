import { execFileSync } from "node:child_process";
import { createFakeClock } from "@countersign/testkit";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAccess } from "./access.js";
import { createKeyAuthenticator, createApiKey } from "./api-keys.js";
import { createKeyFile, MAX_API_KEYS, parseKeyFile } from "./key-file.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-keys-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test("a key authenticates under its name; another key or the hash itself does not", async () => {
  const [one, two] = [createApiKey(), createApiKey()];
  const entries = [
    { name: "one", hash: one.hash },
    { name: "two", hash: two.hash },
  ];
  const access = createAccess([createKeyAuthenticator(() => entries)]);
  expect((await access.authenticate(two.key)).principal).toEqual({ id: "key:two" });
  for (const wrong of [createApiKey().key, one.hash, `${one.key} `, one.key.slice(0, -1), ""]) {
    await expect(access.authenticate(wrong)).rejects.toMatchObject({ code: "ERR_ACCESS_TOKEN" });
  }
  await expect(access.authenticate(undefined)).rejects.toMatchObject({
    code: "ERR_ACCESS_MISSING",
  });
});

test("keys are unique, carry the prefix, and have 256 random bits", () => {
  const keys = new Set(Array.from({ length: 100 }, () => createApiKey().key));
  expect(keys.size).toBe(100);
  for (const key of keys) expect(key).toMatch(/^csk_[\w-]{43}$/);
});

test("a key is found at any position, and the list is decoded once, not per credential", async () => {
  const keys = Array.from({ length: 50 }, () => createApiKey());
  let reads = 0;
  const entries = keys.map((key, index) => ({
    name: `n${index}`,
    get hash() {
      reads += 1;
      return key.hash;
    },
  }));
  const access = createAccess([createKeyAuthenticator(() => entries)]);
  for (const [index, { key }] of keys.entries()) {
    expect((await access.authenticate(key)).principal.id).toBe(`key:n${index}`);
  }
  expect(reads).toBe(50);
});

test("removing a line revokes the key and ends what it opened; a broken file changes nothing", async () => {
  const clock = createFakeClock();
  const file = join(folder, "keys.txt");
  const [one, two] = [createApiKey(), createApiKey()];
  writeFileSync(file, `# keys\n\none ${one.hash}\ntwo ${two.hash}\n`);
  const access = createAccess([createKeyAuthenticator(createKeyFile(file, clock, QUIET))]);
  const grant = await access.authenticate(one.key);
  expect(grant.isValid()).toBe(true);
  writeFileSync(file, "one not-a-hash\n");
  clock.advance(1000);
  expect(grant.isValid()).toBe(true);
  writeFileSync(file, `two ${two.hash}\n`);
  clock.advance(1000);
  expect(grant.isValid()).toBe(false);
  await expect(access.authenticate(one.key)).rejects.toMatchObject({ code: "ERR_ACCESS_TOKEN" });
  const other = await access.authenticate(two.key);
  rmSync(file);
  clock.advance(1000);
  expect(other.isValid()).toBe(false);
});

test("a named pipe in place of the file does not block and changes nothing", async () => {
  const clock = createFakeClock();
  const file = join(folder, "keys.txt");
  const one = createApiKey();
  writeFileSync(file, `one ${one.hash}\n`);
  const access = createAccess([createKeyAuthenticator(createKeyFile(file, clock, QUIET))]);
  rmSync(file);
  execFileSync("mkfifo", [file]);
  clock.advance(1000);
  expect((await access.authenticate(one.key)).principal.id).toBe("key:one");
  expect(() => createKeyFile(file, clock, QUIET)).toThrow(/is not a regular file/);
});

test("a list error names the line, and the list is bounded", () => {
  const { hash } = createApiKey();
  expect(() => parseKeyFile(`a ${hash}\nb sha256:12\n`, "keys.txt")).toThrow(
    /keys\.txt:2: expected/,
  );
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, index) => `n${index} ${hash}`).join("\n");
  expect(parseKeyFile(lines(MAX_API_KEYS), "f")).toHaveLength(MAX_API_KEYS);
  expect(() => parseKeyFile(lines(MAX_API_KEYS + 1), "f")).toThrow(/f:1001/);
});
