// Builds the console into dist/page and its verifier into dist/verifier. Quick when nothing changed: the inputs are hashed,
// and the hash of the last build is kept beside it, outside the folder that is served.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const root = join(here, "..", "..");
const stamp = join(here, "dist", "inputs.sha256");

/** The inputs of the bundle: our sources, and the versions of its dependencies. */
const INPUTS = [
  "apps/console/index.html",
  "apps/console/page.mjs",
  "apps/console/src",
  "packages/core/src",
  "packages/receipts/src",
  "packages/surface/src",
  "packages/wire/src",
  "apps/console/package.json",
  "package-lock.json",
];

function filesOf(path) {
  const full = join(root, path);
  if (!statSync(full).isDirectory()) return [full];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\/testing\/|\.test(-d)?\.tsx?$/u.test(file))
    .toSorted();
}

function hashInputs() {
  const hash = createHash("sha256");
  for (const file of INPUTS.flatMap(filesOf)) {
    hash.update(`${file.slice(root.length)}\0`);
    hash.update(readFileSync(file));
  }
  return hash.digest("hex");
}

const inputs = hashInputs();
const isFresh =
  existsSync(join(here, "dist", "page", "index.html")) &&
  existsSync(join(here, "dist", "page", "report.js")) &&
  existsSync(join(here, "dist", "verifier", "verify.js")) &&
  existsSync(stamp) &&
  readFileSync(stamp, "utf8") === inputs;

if (process.argv.includes("--check")) {
  // Tests look at what was built: they say so when it is not what they stand beside.
  process.exitCode = isFresh ? 0 : 1;
} else if (!isFresh) {
  const started = performance.now();
  const [{ build }, { page, report, verifier }] = await Promise.all([
    import("vite"),
    import("./page.mjs"),
  ]);
  await build(page);
  await build(report);
  await build(verifier);
  mkdirSync(join(here, "dist"), { recursive: true });
  writeFileSync(stamp, inputs);
  process.stdout.write(
    `console: built in ${((performance.now() - started) / 1000).toFixed(1)} s\n`,
  );
}
