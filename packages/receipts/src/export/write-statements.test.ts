import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isCountersignError } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeEntry } from "../entry/encode-entry.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { numbered, statementSource } from "../testing/sample-statements.js";
import { sampleLog, sampleSigner } from "../testing/sample-log.js";
import { verifyStatements } from "../verify-statements/statements.js";
import { createDirectoryReader } from "./directory-reader.js";
import { signRunStatement } from "./run-statement.js";
import { createStatementWriter, writeStatements } from "./write-statements.js";

const log = await sampleLog(300, { rotateAt: 280 });
const source = statementSource(log);
const RUN = { run_id: "run_1", thread_id: "thread_1" };
let root = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "countersign-write-statements-"));
});
afterAll(() => rm(root, { recursive: true }));
const codeOf = (work: Promise<unknown>): Promise<ErrorCode | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => (isCountersignError(error) ? error.code : undefined),
  );

test("the log's key signs no root but that of its own checkpoint", async () => {
  const older = await sampleLog(300, { rotateAt: 10 });
  for (const [change, code] of [
    [{ checkpoint: log.checkpoint.replace("300", "299") }, "ERR_NOTE_UNVERIFIED"],
    [{ checkpoint: older.checkpoint }, "ERR_EXPORT_MISMATCH"],
    [{ readTile: statementSource(older).readTile }, "ERR_EXPORT_MISMATCH"],
    [{ log: sampleSigner(5) }, "ERR_EXPORT_KEY"],
  ] as const) {
    expect(await codeOf(createStatementWriter({ ...source, ...change }))).toBe(code);
    expect(await codeOf(signRunStatement({ ...source, ...change }, RUN, numbered(log)))).toBe(code);
  }
});

test("only the newest key of the history issues statements", async () => {
  const retired = { ...source, issuer: sampleSigner(7) };
  expect(await codeOf(createStatementWriter(retired))).toBe("ERR_EXPORT_KEY");
});

test("an entry that is not in the tree gets no statement, and leaves no directory", async () => {
  const entries = numbered(log);
  const changed = encodeEntry({ ...decodeEntry(log.entries[7] as Uint8Array), tool: "other" });
  const bad = entries.map((entry) => (entry.seq === 7 ? { seq: 7, bytes: changed } : entry));
  const directory = join(root, "bad");
  expect(await codeOf(writeStatements(directory, source, bad))).toBe("ERR_EXPORT_MISMATCH");
  const beyond = [{ seq: 300, bytes: log.entries[0] as Uint8Array }];
  expect(await codeOf(writeStatements(directory, source, beyond))).toBe("ERR_EXPORT_MISMATCH");
  expect(await codeOf(signRunStatement(source, RUN, bad))).toBe("ERR_EXPORT_MISMATCH");
  expect(await readdir(root)).toEqual([]);
});

test("an aborted export leaves nothing, and an existing directory is not overwritten", async () => {
  const directory = join(root, "export");
  const controller = new AbortController();
  const aborted = writeStatements(directory, source, numbered(log), {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  });
  await expect(aborted).rejects.toThrow("abort");
  expect(await readdir(root)).toEqual([]);
  await writeStatements(directory, source, numbered(log).slice(10, 12));
  expect(await codeOf(writeStatements(directory, source, []))).toBe("ERR_EXPORT_EXISTS");
});

test("an export at one checkpoint has the same bytes each time", async () => {
  const entries = numbered(log).filter(({ seq }) => seq % 90 === 0);
  await writeStatements(join(root, "one"), source, entries);
  await writeStatements(join(root, "two"), source, entries);
  const names = await readdir(join(root, "one"), { recursive: true, withFileTypes: true });
  for (const file of names.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    const again = path.replace(join(root, "one"), join(root, "two"));
    expect((await readFile(path)).equals(await readFile(again))).toBe(true);
  }
  const result = await verifyStatements(createDirectoryReader(join(root, "two")), {
    trustedKeys: [log.receiptKeys[0] ?? ""],
    trustedLogs: [log.vkey],
  });
  expect(result).toMatchObject({ valid: true, signerTrusted: true });
});
