// Breaks the gateway on purpose, as real processes, and takes its time: `npm test` has the same faults in
// small. Arguments go to vitest: `npm run test:faults -- faults/postgres` runs one. SEED= repeats the hostile
// input of an earlier run; LONG=1 waits ten real minutes in silence.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

if (process.argv.includes("--help")) {
  process.stdout.write(
    "usage: npm run test:faults [-- faults/NAME]\n\n" +
      "SEED=N repeats the hostile input of an earlier run; LONG=1 waits ten real minutes in silence.\n" +
      "Example: SEED=7 npm run test:faults -- faults/hostile-clients\n",
  );
  process.exit(0);
}
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const prepared = spawnSync(process.execPath, [join(root, "scripts/prepare.mjs"), "test"], {
  cwd: root,
  stdio: "inherit",
});
if (prepared.status !== 0) process.exit(prepared.status ?? 1);
const outcome = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--config",
    "faults/vitest.config.ts",
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit", env: { ...process.env, COUNTERSIGN_FAULTS: "thorough" } },
);
process.exitCode = outcome.status ?? 1;
