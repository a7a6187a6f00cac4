// Error codes are part of the public face: each one declared must be thrown somewhere and documented with cause and remedy.
// The command explains each of them (`policy explain CODE`) from a table that ships with it; `--write` makes it anew.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, isTest, read, root } from "./sources.mjs";

const TABLE = "apps/cli/assets/errors.json";

const sources = ["packages", "apps"].flatMap((folder) =>
  filesBelow(folder, (name) => /\.(ts|tsx|svelte)$/.test(name)),
);
const declared = new Map();
const used = new Set();

for (const path of sources) {
  const text = read(path);
  for (const block of text.matchAll(
    /interface (?:Core)?ErrorFacts (?:extends CoreErrorFacts )?\{([\s\S]*?)\n\s*\}\n/g,
  )) {
    for (const [, code] of block[1].matchAll(/^\s*(ERR_[A-Z0-9_]+)\??:/gm))
      declared.set(code, path);
  }
  if (isTest(path)) continue;
  for (const [, code] of text.matchAll(/["'](ERR_[A-Z0-9_]+)["']/g)) used.add(code);
}

const documented = new Map();
const explained = {};
const problems = [];
for (const path of filesBelow("docs/errors", (name) => name.endsWith(".md"))) {
  for (const section of read(path).split(/^## /m).slice(1)) {
    const code = section.split("\n", 1)[0].replaceAll("`", "").trim();
    if (!code.startsWith("ERR_")) continue;
    if (documented.has(code))
      problems.push(`${path}: ${code} is documented twice (also in ${documented.get(code)})`);
    documented.set(code, path);
    for (const part of ["Cause:", "Remedy:"]) {
      if (!section.includes(part)) problems.push(`${path}: ${code} has no "${part}" line`);
    }
    explained[code] = { cause: partOf(section, "Cause:"), remedy: partOf(section, "Remedy:") };
  }
}
for (const [code, path] of declared) {
  if (!documented.has(code)) problems.push(`${path}: ${code} is not documented in docs/errors/`);
  if (!used.has(code)) problems.push(`${path}: ${code} is declared but never thrown`);
}
for (const [code, path] of documented) {
  if (!declared.has(code)) problems.push(`${path}: ${code} is documented but not declared`);
}
const sorted = Object.fromEntries(
  Object.entries(explained).toSorted(([one], [other]) => (one < other ? -1 : 1)),
);
const table = `${JSON.stringify(sorted, undefined, 2)}\n`;
if (process.argv.includes("--write")) writeFileSync(join(root, TABLE), table);
else if (!existsSync(join(root, TABLE)) || read(TABLE) !== table) {
  problems.push(
    `${TABLE} does not say what docs/errors says: node scripts/check-errors.mjs --write`,
  );
}

/** The paragraph that begins with a word, on one line. */
function partOf(section, word) {
  const [, rest = ""] = section.split(`\n${word}`);
  const [paragraph = ""] = rest.split(/\n(?=Cause:|Remedy:|\n)/u);
  return paragraph.replaceAll(/\s+/gu, " ").trim();
}

for (const problem of problems) process.stderr.write(`check:errors: ${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else process.stdout.write(`check:errors: ${declared.size} codes, all documented and used\n`);
