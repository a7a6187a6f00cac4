// The interop lab: real frameworks, real clients, and the gateway between them. A command of its own, because the
// frameworks install hundreds of packages. `npm run test:interop -- --help` says what can be chosen.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fetchNode } from "../scripts/fetch-node.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { startModel } from "./model.mjs";
import { explain, writeRecordings, writeResults } from "./report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const NODE = "22";
const USAGE = `usage: npm run test:interop [-- OPTIONS]

Installs the pinned frameworks of interop/ and a Node ${NODE} to run them with, starts a scripted model, and holds one
conversation per framework, client and mode: direct, observe, starter (enforced), opened (init --for, enforced).
Exit: 0 every cell is as expected, 1 some are not.

  --only NAME     only this framework, may be given again: ${FRAMEWORKS.map(({ name }) => name).join(", ")}
  --client NAME   only this client, may be given again
  --json          the cells for machines instead of lines
  --write         writes results.json, the table in docs/compatibility.md and the recordings, framework by framework
  --help          this text
`;

const { values: flags } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    client: { type: "string", multiple: true },
    json: { type: "boolean" },
    write: { type: "boolean" },
    help: { type: "boolean" },
  },
});
if (flags.help === true) {
  process.stdout.write(USAGE);
  process.exit(0);
}

install();
const node = nodeForFrameworks();
const { CLIENTS } = await import("./clients.mjs");
const { runFramework } = await import("./matrix.mjs");
const { README_FRAMEWORKS, runReadme } = await import("./readme.mjs");
// Official clients print what they throw; the lab tells it once, in its own line.
console.error = () => undefined;
console.warn = () => undefined;

const clients = flags.client ?? Object.keys(CLIENTS);
const chosen = FRAMEWORKS.filter(
  ({ name }) => flags.only === undefined || flags.only.includes(name),
);
const model = await startModel();
const cells = [];
for (const framework of chosen) {
  try {
    const run = { node, modelUrl: model.url, clients, report };
    const done = await runFramework(framework, run);
    cells.push(...done);
    if (flags.write === true) {
      writeResults(framework.name, done);
      writeRecordings(done);
    }
    if (README_FRAMEWORKS.includes(framework.name)) {
      const deviations = await runReadme(framework, node, model.url);
      const cell = { framework: framework.name, client: "README.md", mode: "observe", deviations };
      cells.push(cell);
      report(cell);
    }
  } catch (error) {
    const cell = {
      framework: framework.name,
      client: "-",
      mode: "direct",
      deviations: [`not run: ${error.message}`],
    };
    cells.push(cell);
    report(cell);
  }
}
model.close();
if (flags.json === true) {
  const told = cells.map((cell) => ({ ...cell, seen: undefined }));
  process.stdout.write(`${JSON.stringify(told, undefined, 2)}\n`);
}
const failed = cells.filter((cell) => explain(cell) === undefined).length;
process.stderr.write(`${cells.length - failed} cells as expected, ${failed} not\n`);
process.exit(failed > 0 ? 1 : 0);

function report(cell) {
  if (flags.json === true) return;
  const { framework, client, mode, deviations } = cell;
  const known = explain(cell) === undefined ? "differs" : "known";
  const state = deviations.length === 0 ? "ok" : known;
  const names = `${framework.padEnd(18)} ${client.padEnd(12)} ${mode}`;
  process.stdout.write(`${state.padEnd(7)} ${names}\n`);
  for (const deviation of deviations) process.stdout.write(`        ${deviation}\n`);
}

/** By what the lock file holds, not by its time: a checkout changes that, and an installation takes minutes. */
function install() {
  const lock = readFileSync(join(here, "package-lock.json"), "utf8");
  const noted = join(here, "node_modules", ".installed-lock.json");
  if (existsSync(noted) && readFileSync(noted, "utf8") === lock) return;
  process.stdout.write("interop: installing the frameworks (npm ci)\n");
  const flags = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  if (spawnSync("npm", flags, { cwd: here, stdio: "inherit" }).status !== 0) process.exit(2);
  writeFileSync(noted, lock);
}

/** Mastra and Strands need Node 22: this one if it is new enough, else one from the registry. */
function nodeForFrameworks() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return process.execPath;
  const folder = join(here, ".cache", `node-${NODE}`);
  const noted = join(folder, "path");
  if (existsSync(noted)) return readFileSync(noted, "utf8");
  mkdirSync(folder, { recursive: true });
  const fetched = fetchNode(NODE, folder);
  if (fetched.reason !== undefined) {
    process.stderr.write(`interop: ${fetched.reason}\n`);
    process.exit(2);
  }
  writeFileSync(noted, fetched.node);
  return fetched.node;
}
