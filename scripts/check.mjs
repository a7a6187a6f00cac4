// Runs every gate in turn, tells all that fail rather than the first one, and names the command for each.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const gates = [
  ["check:types", "every file type-checks, tests included"],
  ["check:lint", "oxlint"],
  ["check:format", "oxfmt"],
  ["check:deps", "imports point one way"],
  ["check:errors", "every error code is documented and used"],
  ["check:exports", "no unused export, file or dependency"],
  ["check:links", "no dead link in the docs"],
];

const failed = [];
for (const [script, what] of gates) {
  const started = performance.now();
  const result = spawnSync("npm", ["run", "--silent", script], { cwd: root, encoding: "utf8" });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const ok = result.status === 0;
  process.stdout.write(`${ok ? "ok    " : "FAILED"} ${script.padEnd(14)} ${what} (${seconds} s)\n`);
  if (ok) continue;
  failed.push(script);
  process.stdout.write(`${result.stdout}${result.stderr}\n`);
}
if (failed.length > 0) {
  process.stderr.write(
    `check: ${failed.join(", ")} failed; run \`npm run ${failed[0]}\` to see one alone.\n`,
  );
  process.exitCode = 1;
}
