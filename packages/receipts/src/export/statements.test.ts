import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sampleLog } from "../testing/sample-log.js";
import { numbered, statementSource } from "../testing/sample-statements.js";
import { writeStatements } from "./write-statements.js";

const PROGRAM = fileURLToPath(new URL("../../third-party/verify_statement.py", import.meta.url));
const log = await sampleLog(11, { rotateAt: 4 });
let root = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "countersign-statements-"));
  await writeStatements(join(root, "export"), statementSource(log), numbered(log));
});
afterAll(() => rm(root, { recursive: true }));
test("python", () => {
  const out = execFileSync(
    "python3",
    [
      PROGRAM,
      "--keys",
      join(root, "export/keys.cbor"),
      ...log.entries.map((_, n) => join(root, `export/statements/${n}.scitt`)),
    ],
    { encoding: "utf8" },
  );
  console.log(out);
  expect(out).toContain("entry 10 of 11");
});
