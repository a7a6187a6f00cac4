// Measures us beside our peers: `npm run bench -- wire` runs one area, without a name all of them.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchNode } from "./fetch-node.mjs";
import { read, root } from "./sources.mjs";

const USAGE = `usage: npm run bench [-- AREA [OPTIONS]]

Areas: AREAS; all of them but turns without a name.
Options of all: --node MAJOR (that Node, from the npm registry), --node image (the one of deploy/Dockerfile)
Options of gateway: --quick (two minutes instead of half an hour), --repeats N, --only pipe,enforce-batch
Options of turns: --beside CHECKOUT (another one, built), --rounds N, --only first,paced,live,flood
  other loads for --only: short,toolcalls,statedeltas,each,websocket,tls,postgres
Options of streams: --rounds N
Options of receipts: --rounds N, --entries N, --grow N
Options of postgres: --rounds N, --entries N, --sign each, --beside CHECKOUT (another one, built), --only "one gateway,plain copy"
Options of cluster: --quick, --gateways 1,2,4
Example: npm run bench -- gateway --quick --node image
`;

/** Each area and the programs that measure it, in order. */
const AREAS = {
  wire: ["wire", "enforce", "proto", "reduce"],
  receipts: ["receipts"],
  postgres: ["postgres"],
  policy: ["policy"],
  capability: ["capability"],
  surface: ["surface"],
  gateway: ["gateway"],
  turns: ["turns"],
  cluster: ["cluster"],
  streams: ["streams"],
  redteam: ["redteam"],
  client: ["client"],
  inspect: ["inspect"],
};

function fail(text) {
  process.stderr.write(`bench: ${text}\n`);
  process.exit(2);
}

/** The Node that runs the programs: this one, or the requested one, in a folder that is removed with this process. */
function chooseNode(name) {
  if (name === undefined) return { node: process.execPath, env: process.env };
  const { maintained, image } = JSON.parse(read("scripts/nodes.json"));
  const major = name === "image" ? image : name;
  if (!maintained.includes(major)) {
    fail(`--node takes image or one of ${maintained.join(", ")}, not ${name}`);
  }
  const folder = mkdtempSync(join(tmpdir(), "countersign-node-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const fetched = fetchNode(major, folder);
  return fetched.reason === undefined ? fetched : fail(fetched.reason);
}

const given = process.argv.slice(2);
const flag = given.indexOf("--node");
const wantedNode = flag === -1 ? undefined : (given.splice(flag, 2)[1] ?? "");
const [wanted, ...rest] = given;
const known = Object.keys(AREAS);
if (process.argv.includes("--help")) {
  process.stdout.write(USAGE.replace("AREAS;", `${known.join(", ")};`));
  process.exit(0);
}
if (wanted !== undefined && !known.includes(wanted)) {
  fail(`no area named ${wanted}; there are: ${known.join(", ")}`);
}
const prepared = spawnSync(process.execPath, [join(root, "scripts", "prepare.mjs"), "bench"], {
  stdio: "inherit",
});
if (prepared.status !== 0) process.exit(1);

const { node, env } = chooseNode(wantedNode);
// Turns compare two checkouts: a tool for changes of the gateway, not one of our figures.
for (const area of wanted === undefined ? known.filter((one) => one !== "turns") : [wanted]) {
  for (const program of AREAS[area]) {
    const file = join(root, "bench", "dist", `${program}.js`);
    if (!existsSync(file)) continue;
    process.stdout.write(`\n== ${program} ==\n`);
    const result = spawnSync(node, ["--expose-gc", file, ...rest], {
      cwd: root,
      env,
      stdio: "inherit",
    });
    if (result.status !== 0) process.exitCode = 1;
  }
}
