import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { CONSOLE_DIRECTORY } from "../files.mjs";
import { assertBuilt } from "./testing/open-console.js";

test("the whole console stays under 180 KB compressed, and brings nothing from elsewhere", () => {
  assertBuilt();
  const files = readdirSync(CONSOLE_DIRECTORY, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  const size = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
  console.info(`@countersign/console: ${size.toLocaleString("en")} bytes gzip`);
  expect(size).toBeLessThan(180_000);
  const page = readFileSync(join(CONSOLE_DIRECTORY, "index.html"), "utf8");
  expect(page).not.toMatch(/<script(?![^>]*src="\/console\/)|<style|style=|https?:\/\//u);
});
