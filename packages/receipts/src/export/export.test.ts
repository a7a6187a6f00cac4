import { execFileSync } from "node:child_process";
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sampleFiles, sampleLog } from "../testing/sample-log.js";
import { verifyExport } from "../verify/export.js";
import { verifyProof } from "../verify/proof.js";
import { fastVerifyBundle } from "../verify-node/fast-verify-bundle.js";
import { createDirectoryReader } from "./directory-reader.js";
import { writeExport } from "./write-export.js";
import { proofPath } from "./write-proofs.js";

let root = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "countersign-export-"));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});
const log = await sampleLog(300, { rotateAt: 100 });

test("an export is, file by file, the C2SP layout of the log, and verifies", async () => {
  const directory = join(root, "deep/er/export");
  const progress: number[] = [];
  await writeExport(directory, log, {
    proofs: [0, 299, 0],
    onProgress: (done) => progress.push(done),
  });
  for (const [path, bytes] of sampleFiles(log)) {
    expect((await readFile(join(directory, path))).equals(bytes)).toBe(true);
  }
  expect(progress).toEqual([256, 300]);
  expect((await readdir(directory)).sort()).toEqual([
    "README.md",
    "checkpoint",
    "keys.jsonl",
    "log.vkey",
    "proofs",
    "receipts.jsonl",
    "tile",
  ]);
  const trust = { trustedLogs: [log.vkey], trustedKeys: [log.receiptKeys[0]!] };
  expect(await verifyExport(createDirectoryReader(directory), trust)).toMatchObject({
    valid: true,
    signerTrusted: true,
  });
  for (const index of [0, 299]) {
    const proof = await readFile(join(directory, proofPath(index)), "utf8");
    expect(await verifyProof(proof, log.entries[index]!, trust)).toMatchObject({ valid: true });
  }
  const readme = await readFile(join(directory, "README.md"), "utf8");
  expect(readme).toContain("300 entries");
  expect(readme).toContain("tile/0/001.p/44");
  expect(readme).toContain("fsck");
});

test("an empty log exports and verifies", async () => {
  const directory = join(root, "empty");
  await writeExport(directory, await sampleLog(0));
  expect(await verifyExport(createDirectoryReader(directory))).toMatchObject({ valid: true });
});

test("an export appears whole or not at all", async () => {
  const directory = join(root, "whole");
  const failing = {
    ...log,
    entries: (function* entries() {
      yield* log.entries.slice(0, 290);
      throw new Error("the store went away");
    })(),
  };
  await expect(writeExport(directory, failing)).rejects.toThrow("the store went away");
  const short = { ...log, entries: log.entries.slice(0, 299) };
  await expect(writeExport(directory, short)).rejects.toMatchObject({
    code: "ERR_EXPORT_MISMATCH",
    facts: { reason: "only 299 entries" },
  });
  const other = { ...log, entries: log.entries.toReversed() };
  await expect(writeExport(directory, other)).rejects.toMatchObject({
    code: "ERR_EXPORT_MISMATCH",
    facts: { reason: "another root" },
  });
  await expect(writeExport(directory, log, { proofs: [300] })).rejects.toMatchObject({
    code: "ERR_EXPORT_MISMATCH",
  });
  expect((await readdir(root)).filter((name) => name.includes("whole"))).toEqual([]);
});

test("an export never overwrites an existing directory", async () => {
  const directory = join(root, "there");
  await writeFile(directory, "mine");
  await expect(writeExport(directory, log)).rejects.toMatchObject({ code: "ERR_EXPORT_EXISTS" });
  expect(await readFile(directory, "utf8")).toBe("mine");
});

test("entries after the signed size are not read", async () => {
  const directory = join(root, "more");
  let isReadOn = false;
  const entries = (function* more() {
    yield* log.entries;
    isReadOn = true;
    yield log.entries[0]!;
  })();
  await writeExport(directory, { ...log, entries });
  expect(isReadOn).toBe(false);
});

test("a file larger than its format allows is refused before it is read", async () => {
  const directory = join(root, "large");
  await writeExport(directory, log);
  await truncate(join(directory, "checkpoint"), 1_000_001);
  await expect(verifyExport(createDirectoryReader(directory))).rejects.toMatchObject({
    code: "ERR_EXPORT_TOO_LARGE",
  });
});

test("a pipe, a device or a directory in the place of a file is refused at once", async () => {
  const directory = join(root, "special");
  await writeExport(directory, log);
  const kinds: Record<string, (path: string) => unknown> = {
    pipe: (path) => execFileSync("mkfifo", [path]),
    device: (path) => symlink("/dev/zero", path),
    directory: (path) => mkdir(path),
  };
  const names = [
    "checkpoint",
    "log.vkey",
    "keys.jsonl",
    "receipts.jsonl",
    "tile/0/000",
    "tile/entries/000",
  ];
  for (const name of process.platform === "win32" ? [] : names) {
    const file = join(directory, name);
    const content = await readFile(file);
    for (const put of Object.values(kinds)) {
      await rm(file, { force: true });
      await put(file);
      const reason = await verifyExport(createDirectoryReader(directory)).catch((error) => error);
      expect(reason).toMatchObject({ code: "ERR_EXPORT_NOT_FILE", facts: { path: name } });
      const width = 256;
      const context = { directory, check: () => true, periods: new Map() };
      expect(fastVerifyBundle(0, width, context, undefined)).toBeUndefined();
      await rm(file, { recursive: true });
    }
    await writeFile(file, content);
  }
});
