import {
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { giveToFolderOwner, makeFolder } from "./owner.js";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
let home = "";
const path = (name: string): string => join(home, name);
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "countersign-owner-"));
  writeFileSync(path("secret"), "");
  mkdirSync(path("theirs"));
  if (isRoot) chownSync(path("theirs"), NOBODY, NOBODY);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.runIf(isRoot)("a link in the place of a new file gives nothing away", () => {
  symlinkSync(path("secret"), path("theirs/symbolic"));
  expect(() => giveToFolderOwner(path("theirs/symbolic"))).toThrow("ELOOP");
  linkSync(path("secret"), path("theirs/hard"));
  giveToFolderOwner(path("theirs/hard"));
  expect(statSync(path("secret")).uid).toBe(0);
});

test.runIf(isRoot)("folders that are made belong to whom the one above belongs", () => {
  makeFolder(path("theirs/a/b"));
  expect(statSync(path("theirs/a")).uid).toBe(NOBODY);
  expect(statSync(path("theirs/a/b"))).toMatchObject({ uid: NOBODY, gid: NOBODY });
});
