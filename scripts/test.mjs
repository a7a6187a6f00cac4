// Runs every test and closes with the line `N passed, N failed`, which machines read.
// Arguments go to vitest: `npm test -- packages/wire` runs one folder.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const scratch = mkdtempSync(join(tmpdir(), "countersign-test-"));
const report = join(scratch, "report.json");

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const outcome = spawnSync(
  process.execPath,
  [
    vitest,
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit" },
);

let closing = "0 passed, 1 failed";
let failed = true;
try {
  const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  // A file that fails to load has no failed test of its own, yet it must not look clean.
  const broken = numFailedTests === 0 ? numFailedTestSuites : numFailedTests;
  closing = `${numPassedTests} passed, ${broken} failed${numPendingTests > 0 ? `, ${numPendingTests} skipped` : ""}`;
  failed = broken > 0 || numPassedTests === 0 || outcome.status !== 0;
} catch {
  process.stderr.write("test: vitest wrote no report; it ended before the tests did.\n");
}
rmSync(scratch, { recursive: true, force: true });
process.stdout.write(`${closing}\n`);
process.exitCode = failed ? 1 : 0;
