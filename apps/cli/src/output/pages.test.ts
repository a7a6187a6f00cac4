import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pageAddress } from "@countersign/core";
import { expect, test } from "vitest";
import { pageReference, referPages } from "./pages.js";

const ROOT = new URL("../../../../", import.meta.url);

test("in a clone a page is named by its address and by a path that exists", () => {
  const [, address, path = ""] = /^(\S+) \((\S+)\)$/u.exec(pageReference("access.md#tokens")) ?? [];
  expect(address).toBe(pageAddress("access.md#tokens"));
  expect(existsSync(join(process.cwd(), path))).toBe(true);
});

test("where the pages are not installed, a page is named by its address alone", () => {
  const nowhere = pathToFileURL("/nowhere/docs/");
  expect(pageReference("access.md", nowhere)).toBe(pageAddress("access.md"));
});

test("a text for people names pages by reference: links of Markdown and paths", () => {
  const refer = (page: string): string => `<${page}>`;
  expect(
    referPages("see docs/a/b.md, [the rules](../r.md#x) and [docs/c.md](../c.md).", refer),
  ).toBe("see <a/b.md>, the rules (<r.md#x>) and <c.md>.");
});

test("no cause and no remedy of an error code leaves a path of the repository in its text", () => {
  const table = readFileSync(new URL("apps/cli/assets/errors.json", ROOT), "utf8");
  expect(table).toMatch(/\.md/u);
  expect(referPages(table, pageAddress)).not.toMatch(/\.md\b/u);
});

test("no string of a package names a file of docs/, which packages do not contain", () => {
  const folders = ["packages", "apps"].flatMap((parent) =>
    readdirSync(new URL(`${parent}/`, ROOT)).map((name) => `${parent}/${name}/src/`),
  );
  const files = folders.flatMap((folder) =>
    existsSync(new URL(folder, ROOT))
      ? readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" })
          .filter((name) => /(?<!\.test)\.tsx?$/u.test(name) && !/(?:^|\/)testing\//u.test(name))
          .map((name) => folder + name)
      : [],
  );
  expect(files.length).toBeGreaterThan(500);
  const naming = files.filter((file) =>
    readFileSync(new URL(file, ROOT), "utf8")
      .split("\n")
      .some((line) => !/^\s*(?:\/\/|\/?\*)/u.test(line) && /\bdocs\/[\w./-]*\.md\b/u.test(line)),
  );
  expect(naming).toEqual([]);
});
