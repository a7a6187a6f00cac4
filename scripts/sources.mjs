// The source files of the workspace, for the gates that read them as text.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const SKIPPED = new Set(["node_modules", "dist", ".git", "generated", "results"]);

/** Every file below a folder whose name passes the test, as paths relative to the root with `/`. */
export function filesBelow(folder, accepts) {
  const found = [];
  const walk = (path) => {
    for (const name of readdirSync(path).sort()) {
      if (SKIPPED.has(name)) continue;
      const full = join(path, name);
      if (statSync(full).isDirectory()) walk(full);
      else if (accepts(name)) found.push(relative(root, full).split(sep).join("/"));
    }
  };
  walk(join(root, folder));
  return found;
}

/** The text of one file, by its path relative to the root. */
export function read(path) {
  return readFileSync(join(root, path), "utf8");
}

/** Whether a file only serves tests. */
export function isTest(path) {
  return /\.test(-d)?\.tsx?$/.test(path) || path.includes("/testing/");
}
