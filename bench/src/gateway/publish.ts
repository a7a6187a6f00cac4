import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { drawPlots } from "./plots.js";
import type { Raw } from "./raw.js";
import { figuresForReadme, goals, writeReport } from "./report.js";

/**
 * Prints the report and stores it with raw data and plots: a full run in the results, README.md and
 * docs/performance.md, a quick one in the build.
 */
export function publish(raw: Raw, mayKeep: boolean): void {
  const isKept = raw.settings.name === "full" && mayKeep;
  const results = new URL(isKept ? "../../results/" : "../quick/", import.meta.url);
  const folder = new URL("gateway/", results);
  mkdirSync(folder, { recursive: true });
  const text = writeReport(raw, "gateway");
  writeFileSync(new URL("gateway.md", results), text);
  writeFileSync(new URL("raw.json", folder), `${compact(raw)}\n`);
  for (const [name, drawing] of drawPlots(raw)) {
    writeFileSync(new URL(`${name}.svg`, folder), drawing);
  }
  process.stdout.write(`\n${text}\n`);
  const pages = { "README.md": figuresForReadme(raw), "docs/performance.md": goals(raw) };
  for (const [page, figures] of Object.entries(pages)) {
    if (isKept) replaceFigures(page, figures);
    else process.stdout.write(`\nA full run would write to ${page}:\n\n${figures}\n`);
  }
}

const BETWEEN_MARKS = /(<!-- figures of the gateway bench -->\n)[^]*?(\n<!-- end -->)/u;

/** Writes a table between the two marks of a page. */
function replaceFigures(page: string, figures: string): void {
  const file = new URL(`../../../${page}`, import.meta.url);
  const text = readFileSync(file, "utf8");
  if (!BETWEEN_MARKS.test(text)) throw new Error(`${page} has no place for the figures`);
  writeFileSync(
    file,
    text.replace(BETWEEN_MARKS, (_, before, after) => `${before}\n${figures}\n${after}`),
  );
}

/** Indented, but with lists of numbers on one line. */
function compact(raw: Raw): string {
  return JSON.stringify(raw, undefined, 1).replaceAll(/\[[\d\s,.e+-]*\]/gu, (list) =>
    list.replaceAll(/\s+/gu, ""),
  );
}
