import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { CONSOLE_DIRECTORY } from "../files.mjs";
import { assertBuilt } from "./testing/open-console.js";

/**
 * 180 KB until the console got a list, pages for agents and approvals, the conversation of a run (with the reducer) and the
 * script of a report, which is 14 KB and only part of a download. The editor of the policy page is a chunk of its own:
 * an operator who does not open that page does not load it.
 */
const EDITOR = /^code-mirror-[\w-]+\.js$/u;

test("the console stays under 190 KB compressed and its editor under 150 KB, and nothing comes from elsewhere", () => {
  assertBuilt();
  const sizes = readdirSync(CONSOLE_DIRECTORY, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({
      name: entry.name,
      size: gzipSync(readFileSync(join(entry.parentPath, entry.name)), { level: 9 }).length,
    }));
  const sum = (isEditor: boolean): number =>
    sizes
      .filter(({ name }) => EDITOR.test(name) === isEditor)
      .reduce((total, { size }) => total + size, 0);
  console.info(
    `@countersign/console: ${sum(false).toLocaleString("en")} bytes gzip, and ${sum(true).toLocaleString("en")} of its editor`,
  );
  expect(sum(false)).toBeLessThan(190_000);
  expect(sum(true)).toBeGreaterThan(0);
  expect(sum(true)).toBeLessThan(150_000);
  const page = readFileSync(join(CONSOLE_DIRECTORY, "index.html"), "utf8");
  expect(page).not.toMatch(/code-mirror/u);
  expect(page).not.toMatch(/<script(?![^>]*src="\/console\/)|<style|style=|https?:\/\//u);
});
