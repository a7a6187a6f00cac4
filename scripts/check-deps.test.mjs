// The gate of imports, over small trees into which a broken rule is planted.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { root } from "./sources.mjs";

const trees = [];
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

/** What the gate prints for a tree of files. */
function check(files) {
  const tree = mkdtempSync(join(tmpdir(), "countersign-deps-"));
  trees.push(tree);
  for (const name of ["check-deps.mjs", "sources.mjs"]) {
    cpSync(join(root, "scripts", name), join(tree, "scripts", name));
  }
  for (const folder of ["packages", "apps", "testkit"]) mkdirSync(join(tree, folder));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  return spawnSync(process.execPath, ["scripts/check-deps.mjs"], { cwd: tree, encoding: "utf8" })
    .stderr;
}

const DIRECTION = "folders of a package import in one direction";
const CIRCLE = "no files import each other in a circle";

test("two folders that import each other are named with the sentence of the rule, type imports included", () => {
  const printed = check({
    "packages/wire/src/a/one.ts":
      'import type { Two } from "../b/two.js";\nexport type One = Two;\n',
    "packages/wire/src/a/other.ts": "export const other = 1;\n",
    "packages/wire/src/b/two.ts": "export type Two = 2;\n",
    "packages/wire/src/b/back.ts": 'import "../a/other.js";\n',
  });
  expect(printed).toContain(DIRECTION);
  expect(printed).toContain("packages/wire/src/a/one.ts imports packages/wire/src/b/two.ts");
  expect(printed).toContain("packages/wire/src/b/back.ts imports packages/wire/src/a/other.ts");
  expect(printed).not.toContain(CIRCLE);
});

test("files that import each other in a circle are named, also inside one folder", () => {
  const printed = check({
    "packages/core/src/a/one.ts": 'export { two } from "./two.js";\n',
    "packages/core/src/a/two.ts": 'export { three } from "./three.js";\n',
    "packages/core/src/a/three.ts": 'import { one } from "./one.js";\n',
  });
  expect(printed).toContain(CIRCLE);
  expect(printed).not.toContain(DIRECTION);
});

test("folders that import each other in a circle of three are named", () => {
  const printed = check({
    "packages/core/src/a/one.ts": 'import "../b/two.js";\n',
    "packages/core/src/b/two.ts": "export {};\n",
    "packages/core/src/b/other.ts": 'import "../c/three.js";\n',
    "packages/core/src/c/three.ts": "export {};\n",
    "packages/core/src/c/other.ts": 'import "../a/last.js";\n',
    "packages/core/src/a/last.ts": "export {};\n",
  });
  expect(printed).toContain("core/a → core/b → core/c → core/a: folders import downwards only.");
  expect(printed).not.toContain(CIRCLE);
  expect(printed).not.toContain(DIRECTION);
});

test("imports in one direction, and tests that look back, are in order", () => {
  const printed = check({
    "packages/core/src/a/one.ts": 'export { two } from "../b/two.js";\n',
    "packages/core/src/b/two.ts": "export const two = 2;\n",
    "packages/core/src/b/two.test.ts": 'import "../a/one.js";\n',
  });
  expect(printed).not.toContain(DIRECTION);
  expect(printed).not.toContain(CIRCLE);
});
