import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeFailure } from "../output/failure.js";
import { pathExists } from "./path-exists.js";
import { readText } from "./read-file.js";

const BIN = new URL("../../bin/countersign.js", import.meta.url).pathname;
const isBuilt = existsSync(new URL("../../dist/files/read-file.js", import.meta.url));
const NOBODY = 65_534;
let home = "";
const path = (name: string): string => join(home, name);
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "countersign-files-"));
  chmodSync(home, 0o755);
  for (const name of ["closed/keys", "closed/receipts/segments"]) {
    mkdirSync(path(name), { recursive: true });
  }
  chmodSync(path("closed"), 0o700);
  symlinkSync("loop", path("loop"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test("only what is not there is not there: every other cause is told", () => {
  expect([pathExists(home), pathExists(path("absent")), pathExists(path("absent/too"))]).toEqual([
    true,
    false,
    false,
  ]);
  expect(() => pathExists(path("loop"))).toThrow("ELOOP");
});

/** The result of reading a path. */
function failureOf(file: string): { code?: string; message: string } {
  try {
    readText(file);
  } catch (error) {
    return describeFailure(error);
  }
  throw new TypeError(`${file} was read`);
}

test("only files are read: a folder, a pipe without a writer, a device and a link to itself are refused", () => {
  spawnSync("mkfifo", [path("pipe")]);
  symlinkSync("/dev/zero", path("zero"));
  for (const [file, is] of [
    [home, "a folder, not a file"],
    [path("pipe"), "not a regular file"],
    [path("zero"), "not a regular file"],
  ]) {
    expect(failureOf(String(file))).toMatchObject({
      code: "ERR_FILE_KIND",
      message: `${file} is ${is}`,
    });
  }
  expect(failureOf(path("loop"))).toMatchObject({ code: "ELOOP" });
});

test("no file is read without a bound, however large it says it is", () => {
  writeFileSync(path("sparse"), "");
  truncateSync(path("sparse"), 2 ** 40);
  expect(failureOf(path("sparse"))).toMatchObject({ code: "ERR_FILE_TOO_LARGE" });
});

const canBecomeNobody =
  process.getuid?.() === 0 &&
  isBuilt &&
  spawnSync(process.execPath, [BIN, "--version"], { uid: NOBODY, gid: NOBODY }).status === 0;

test.runIf(canBecomeNobody).each([
  ["receipts", "list"],
  ["receipts", "export", "out"],
  ["receipts", "verify"],
  ["keys", "show"],
])("a user without rights is told so, not that nothing is there: %s %s", (...verb) => {
  const place = ["--store", `sqlite:${path("closed/receipts")}`, "--keys", path("closed/keys")];
  const { status, stderr } = spawnSync(process.execPath, [BIN, ...verb, ...place], {
    uid: NOBODY,
    gid: NOBODY,
    encoding: "utf8",
  });
  expect(stderr).toMatch(
    /closed\S+ cannot be read or written by this user. Fix: change its owner or its mode \(EACCES\)/,
  );
  expect(status).toBe(2);
});
