// Runs every test and closes with the line `N passed, N failed`, which machines read.
// Arguments go to vitest: `npm test -- packages/wire` runs one folder. Faults come last, one at a time:
// they break real processes and measure memory, so they want the machine for themselves.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const scratch = mkdtempSync(join(tmpdir(), "countersign-test-"));
const chosen = process.argv.slice(2);

/** Runs vitest once and counts what its report says. */
function run(name, parameters) {
  const report = join(scratch, `${name}.json`);
  const outcome = spawnSync(
    process.execPath,
    [
      join(root, "node_modules", "vitest", "vitest.mjs"),
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
      ...parameters,
    ],
    { cwd: root, stdio: "inherit" },
  );
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites } = JSON.parse(
      readFileSync(report, "utf8"),
    );
    // A file that fails to load has no failed test of its own, yet it must not look clean.
    const broken = numFailedTests === 0 ? numFailedTestSuites : numFailedTests;
    const failed = broken === 0 && (numPassedTests === 0 || outcome.status !== 0) ? 1 : broken;
    return { passed: numPassedTests, failed, skipped: numPendingTests };
  } catch {
    process.stderr.write(
      `test: vitest wrote no report of ${name}; it ended before the tests did.\n`,
    );
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const results = [run("units", chosen)];
if (chosen.length === 0) results.push(run("faults", ["--config", "faults/vitest.config.ts"]));
rmSync(scratch, { recursive: true, force: true });

const sum = (key) => results.reduce((total, result) => total + result[key], 0);
const skipped = sum("skipped");
process.stdout.write(
  `${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
);
process.exitCode = sum("failed") > 0 ? 1 : 0;
