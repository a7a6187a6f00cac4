import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { appendRevocation, readRevocationFile } from "./revocation-file.js";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-revoked-"));
  file = join(folder, "revoked.jsonl");
});
afterEach(() => rm(folder, { recursive: true }));

const revocation = (id: string) => ({ capability_id: id, revoked_at: 1 });
const line = (id: string) => JSON.stringify(revocation(id));

test("a revocation gets a line of its own, whatever the file ends with", async () => {
  for (const before of ["", `${line("a")}\n`, line("a"), `${line("a")}\r\n`, "\n"]) {
    await writeFile(file, before);
    await appendRevocation(file, revocation("b"));
    await appendRevocation(file, revocation("c"));
    const ids = readRevocationFile(file).map(({ capability_id: id }) => id);
    expect(ids).toEqual(before.includes("a") ? ["a", "b", "c"] : ["b", "c"]);
  }
  expect(await readFile(file, "utf8")).toBe(`\n${line("b")}\n${line("c")}\n`);
});

test("a missing file is created", async () => {
  await appendRevocation(file, revocation("a"));
  expect(readRevocationFile(file)).toEqual([revocation("a")]);
});

test("an invalid line is reported with its file and number", async () => {
  await writeFile(file, `${line("a")}\n${line("b")}${line("c")}\n`);
  expect(() => readRevocationFile(file)).toThrow(
    expect.objectContaining({
      code: "ERR_CAPABILITY_REVOCATION_LINE",
      message: expect.stringContaining(`${file}:2`) as string,
      facts: { line: 2 },
    }),
  );
});

test("a missing folder, a directory or a pipe stores nothing, and the error says that the revocation is in effect for now", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const place of [join(folder, "missing", "a"), folder, pipe]) {
    await expect(appendRevocation(place, revocation("a"))).rejects.toMatchObject({
      code: "ERR_REVOCATIONS_FILE",
      message: expect.stringContaining("revoked at this gateway until it stops") as string,
      facts: { file: place },
    });
  }
  expect(() => readRevocationFile(pipe)).toThrow("is not a regular file");
});
