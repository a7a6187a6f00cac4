// Error codes are part of the public face: each one declared must be thrown somewhere and documented with cause and remedy.
// The command explains each of them (`policy explain CODE`) from a table that ships with it; `--write` makes it anew.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, isTest, read, root } from "./sources.mjs";

const TABLE = "apps/cli/assets/errors.json";

/** `new CountersignError("CODE", MESSAGE`, where the message is one literal. */
const MESSAGE =
  /CountersignError\(\s*"(ERR_[A-Z0-9_]+)",\s*(?:"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`),/gu;

const sources = ["packages", "apps"].flatMap((folder) =>
  filesBelow(folder, (name) => /\.(ts|tsx|svelte)$/.test(name)),
);
const declared = new Map();
const used = new Set();
/** The messages of each code, with `{}` for each value. */
const said = new Map();

/** Fewer letters than this do not tell a message from another text. */
const MIN_LETTERS = 12;

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
  for (const [, code, plain, template] of text.matchAll(MESSAGE)) {
    const message = (plain ?? template)
      .replaceAll(/\$\{[^}]*\}/gu, "{}")
      .replaceAll(/\\(.)/gu, "$1");
    if (message.replaceAll(/\P{L}/gu, "").length < MIN_LETTERS) continue;
    said.set(code, (said.get(code) ?? new Set()).add(message));
  }
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
    explained[code] = {
      cause: partOf(section, "Cause:"),
      remedy: partOf(section, "Remedy:"),
      says: [...(said.get(code) ?? [])].toSorted(),
    };
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
// A list that fits stands on one line, as the formatter writes it.
const table = `${JSON.stringify(sorted, undefined, 2)}\n`.replaceAll(
  /\[\n[^\]]*?\n    \]/gu,
  (list) => {
    const line = `[${list.slice(1, -1).trim().replaceAll(/\n\s+/gu, " ")}]`;
    return line.length + '    "says": '.length > 100 ? list : line;
  },
);
if (process.argv.includes("--write")) writeFileSync(join(root, TABLE), table);
else if (!existsSync(join(root, TABLE)) || read(TABLE) !== table) {
  problems.push(
    `${TABLE} does not say what docs/errors and the sources say: node scripts/check-errors.mjs --write`,
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
