import { mkdirSync, writeFileSync } from "node:fs";
import { drawPlots } from "./plots.js";
import type { Raw } from "./raw.js";
import { writeReport } from "./report.js";

/**
 * Prints the report and stores it with raw data and plots: a full run in the results, a quick one
 * in the build.
 */
export function publish(raw: Raw, mayKeep: boolean): void {
  const home = raw.settings.name === "full" && mayKeep ? "../../results/" : "../quick/";
  const results = new URL(home, import.meta.url);
  const folder = new URL("gateway/", results);
  mkdirSync(folder, { recursive: true });
  const text = writeReport(raw, "gateway");
  writeFileSync(new URL("gateway.md", results), text);
  writeFileSync(new URL("raw.json", folder), `${compact(raw)}\n`);
  for (const [name, drawing] of drawPlots(raw)) {
    writeFileSync(new URL(`${name}.svg`, folder), drawing);
  }
  process.stdout.write(`\n${text}\n`);
}

/** Indented, but with lists of numbers on one line. */
function compact(raw: Raw): string {
  return JSON.stringify(raw, undefined, 1).replaceAll(/\[[\d\s,.e+-]*\]/gu, (list) =>
    list.replaceAll(/\s+/gu, ""),
  );
}
