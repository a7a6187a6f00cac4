// Measures us beside our peers: `npm run bench -- wire` runs one area, without a name all of them.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const USAGE = `usage: npm run bench [-- AREA [OPTIONS]]

Areas: AREAS; all of them but turns without a name.
Options of gateway: --quick (a minute or two instead of half an hour), --repeats N, --only pipe,observe,enforce-batch
Options of turns: --beside CHECKOUT (another one, built), --rounds N, --only paced,live,flood
Options of receipts: --rounds N, --entries N, --grow N
Example: npm run bench -- gateway --quick
`;

/** Each area and the programs that measure it, in order. */
const AREAS = {
  wire: ["wire", "enforce", "proto", "reduce"],
  receipts: ["receipts"],
  policy: ["policy"],
  capability: ["capability"],
  gateway: ["gateway"],
  turns: ["turns"],
  redteam: ["redteam"],
  client: ["client"],
  inspect: ["inspect"],
};

const [wanted, ...rest] = process.argv.slice(2);
const known = Object.keys(AREAS);
if (process.argv.includes("--help")) {
  process.stdout.write(USAGE.replace("AREAS;", `${known.join(", ")};`));
  process.exit(0);
}
if (wanted !== undefined && !known.includes(wanted)) {
  process.stderr.write(`bench: no area named ${wanted}; there are: ${known.join(", ")}\n`);
  process.exit(2);
}
const prepared = spawnSync(process.execPath, [join(root, "scripts", "prepare.mjs"), "bench"], {
  stdio: "inherit",
});
if (prepared.status !== 0) process.exit(1);

// Turns compare two checkouts: a tool for whoever changes the gateway, not one of our figures.
for (const area of wanted === undefined ? known.filter((one) => one !== "turns") : [wanted]) {
  for (const program of AREAS[area]) {
    const file = join(root, "bench", "dist", `${program}.js`);
    if (!existsSync(file)) continue;
    process.stdout.write(`\n== ${program} ==\n`);
    const result = spawnSync(process.execPath, ["--expose-gc", file, ...rest], {
      cwd: root,
      stdio: "inherit",
    });
    if (result.status !== 0) process.exitCode = 1;
  }
}
