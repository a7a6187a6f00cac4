// Whoever runs the gateway picks a Node that is maintained, and it is rarely the one it was written with: the
// tests pass on each of them, and none prints a warning about what it will take away.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { fetchNode } from "./fetch-node.mjs";
import { read, root } from "./sources.mjs";
import { runTests } from "./run-tests.mjs";

const { maintained, image } = JSON.parse(read("scripts/nodes.json"));

const USAGE = `usage: npm run test:nodes [-- OPTIONS]

Brings each maintained Node (${maintained.join(", ")}; scripts/nodes.json) from the npm registry into a temporary folder and runs
all of \`npm test\` under it. Exit: 0 all pass without a warning, 1 some do not, 2 it could not be found out.

  --node MAJOR      only this Node, or \`image\` for the one of deploy/Dockerfile; may be given again
  --only PATH       only the tests below this path; may be given again
  --if-reachable    a Node that the registry does not give is passed over, with a line that says so
  --help            this text

Example: npm run test:nodes -- --node 24 --only packages/gateway
`;

function say(text) {
  process.stdout.write(`nodes: ${text}\n`);
}

function fail(text) {
  process.stderr.write(`nodes: ${text}\n`);
  process.exit(2);
}

function readFlags() {
  const options = {
    node: { type: "string", multiple: true },
    only: { type: "string", multiple: true },
    "if-reachable": { type: "boolean" },
    help: { type: "boolean" },
  };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return fail(`${error.message}\n\n${USAGE}`);
  }
}

/** What Node warned about, each once: the number of a process says nothing. */
function warningsIn(file) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  const warnings = lines.filter((line) => line.startsWith("(node:"));
  return [...new Set(warnings.map((line) => line.replace(/^\(node:\d+\) /u, "")))];
}

function testUnder({ version, node, env }, chosen, folder) {
  say(`Node ${version}: ${chosen.length > 0 ? chosen.join(" ") : "all tests"}`);
  const warned = join(folder, "warnings");
  const NODE_OPTIONS = `${env.NODE_OPTIONS ?? ""} --redirect-warnings=${warned}`.trim();
  const started = performance.now();
  const counts = runTests(chosen, { node, env: { ...env, NODE_OPTIONS } });
  const seconds = Math.round((performance.now() - started) / 1000);
  return { version, ...counts, warnings: warningsIn(warned), seconds };
}

function printTable(rows) {
  const lines = [
    ["Node", "passed", "failed", "skipped", "warnings", "seconds"],
    ...rows.map((row) => [
      row.version,
      ...[row.passed, row.failed, row.skipped, row.warnings.length, row.seconds].map(String),
    ]),
  ];
  process.stdout.write("\n");
  for (const [first, ...rest] of lines) {
    process.stdout.write(`${first.padEnd(9)}${rest.map((cell) => cell.padStart(9)).join("")}\n`);
  }
  for (const { version, warnings } of rows) {
    for (const warning of warnings) process.stdout.write(`Node ${version} warns: ${warning}\n`);
  }
}

const flags = readFlags();
if (flags.help === true) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const majors = flags.node?.map((name) => (name === "image" ? image : name)) ?? maintained;
for (const major of majors) {
  if (!maintained.includes(major)) fail(`no Node ${major}; there are: ${maintained.join(", ")}`);
}
const chosen = flags.only ?? [];
for (const path of chosen) if (!existsSync(join(root, path))) fail(`there is no ${path}`);

const prepared = spawnSync(process.execPath, [join(root, "scripts", "prepare.mjs"), "test"], {
  stdio: "inherit",
});
if (prepared.status !== 0) fail("the workspace could not be prepared; the lines above say why.");

// The tests of one Node end by the same Ctrl-C; those of the next do not begin, and the folder goes.
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => (interrupted = true));

const folder = mkdtempSync(join(tmpdir(), "countersign-nodes-"));
const rows = [];
const missing = [];
try {
  for (const major of majors) {
    const place = join(folder, major);
    const fetched = fetchNode(major, place);
    if (fetched.reason === undefined) rows.push(testUnder(fetched, chosen, place));
    else {
      missing.push(major);
      say(`Node ${major} was not tested: ${fetched.reason}`);
    }
    // A hundred megabytes each, which the next one does not need.
    rmSync(place, { recursive: true, force: true });
    await nextTurn();
    if (interrupted) break;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (interrupted) fail("interrupted");
if (rows.length > 0) printTable(rows);
if (rows.some(({ failed, warnings }) => failed > 0 || warnings.length > 0)) process.exitCode = 1;
else if (missing.length > 0 && flags["if-reachable"] !== true) process.exitCode = 2;
