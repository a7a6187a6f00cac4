import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { CONSOLE_DIRECTORY } from "../files.mjs";
import { assertBuilt } from "./testing/open-console.js";

/**
 * 180 KB until the console got a list, pages for agents and approvals, the conversation of a run (with the reducer) and the
 * script of a report, which is 14 KB and only part of a download. The editor of the policy page is a chunk of its own:
 * an operator who does not open that page does not load it. So is the code that reads drawn interfaces, with its parser of HTML:
 * it is loaded for a run whose payloads may have some. The checks of cosignatures are the last of the 191 KB.
 */
const EDITOR = /^code-mirror-[\w-]+\.js$/u;
const DRAWINGS = /^drawing(?:s|-view)-[\w-]+\.js$/u;

test("the console stays under 191 KB compressed and its editor under 150 KB, drawn interfaces under 70 KB, and nothing comes from elsewhere", () => {
  assertBuilt();
  const sizes = readdirSync(CONSOLE_DIRECTORY, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({
      name: entry.name,
      size: gzipSync(readFileSync(join(entry.parentPath, entry.name)), { level: 9 }).length,
    }));
  const sum = (isCounted: (name: string) => boolean): number =>
    sizes.filter(({ name }) => isCounted(name)).reduce((total, { size }) => total + size, 0);
  const editor = sum((name) => EDITOR.test(name));
  const drawings = sum((name) => DRAWINGS.test(name));
  const own = sum(() => true) - editor - drawings;
  console.info(
    `@countersign/console: ${own.toLocaleString("en")} bytes gzip, ${editor.toLocaleString("en")} of its editor and ${drawings.toLocaleString("en")} of drawn interfaces`,
  );
  expect(own).toBeLessThan(191_000);
  expect(editor).toBeGreaterThan(0);
  expect(editor).toBeLessThan(150_000);
  expect(drawings).toBeGreaterThan(0);
  expect(drawings).toBeLessThan(70_000);
  const page = readFileSync(join(CONSOLE_DIRECTORY, "index.html"), "utf8");
  expect(page).not.toMatch(/code-mirror|drawing/u);
  expect(page).not.toMatch(/<script(?![^>]*src="\/console\/)|<style|style=|https?:\/\//u);
});
