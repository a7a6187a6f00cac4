// One run of vitest, counted. Whoever runs tests (all, or under another Node) counts them the same way.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./sources.mjs";

/** Runs vitest once and counts what its report says; by another Node or in another environment where they are given. */
function runVitest(parameters, { node = process.execPath, env = process.env } = {}) {
  const scratch = mkdtempSync(join(tmpdir(), "countersign-test-"));
  const report = join(scratch, "report.json");
  const outcome = spawnSync(
    node,
    [
      join(root, "node_modules", "vitest", "vitest.mjs"),
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
      ...parameters,
    ],
    { cwd: root, stdio: "inherit", env },
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
    process.stderr.write("test: vitest wrote no report; it ended before the tests did.\n");
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Runs what was chosen; without a choice everything, faults last, and adds up. */
export function runTests(chosen, surroundings) {
  const results = [runVitest(chosen, surroundings)];
  if (chosen.length === 0) {
    results.push(runVitest(["--config", "faults/vitest.config.ts"], surroundings));
  }
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}
