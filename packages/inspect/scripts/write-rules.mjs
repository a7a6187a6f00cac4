// Writes docs/rules/ from the table of rules that the code uses; run after `npx tsc -b packages/inspect`.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { rulePages } from "../dist/rules/index.js";

const folder = new URL("../../../docs/rules/", import.meta.url);
mkdirSync(folder, { recursive: true });
const pages = rulePages();
for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(new URL(name, folder));
for (const [name, text] of pages) writeFileSync(new URL(name, folder), text);
process.stdout.write(`docs/rules: ${pages.size} pages\n`);
