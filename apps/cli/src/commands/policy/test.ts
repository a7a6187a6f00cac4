import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { runCases } from "@countersign/policy/cases";
import type { CaseFile, CaseReport } from "@countersign/policy/cases";
import type { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { compilePolicyFile } from "./policy-file.js";
import { readCases } from "./read-cases.js";

const EXAMPLE = `
The test cases of policy.yaml are in policy.test.yaml. Each case has an event, a capability and the expected decision.

Exit code: 0 all cases pass, 1 a case fails, 2 a file cannot be used.

Examples:
  $ countersign policy test policy.test.yaml
  $ countersign policy test policy.test.yaml --policy next.yaml
`;

type Flags = { policy?: string; json?: boolean };

/** Adds `countersign policy test`. */
export function registerTest(group: Command): void {
  group
    .command("test")
    .description("run the test cases of a policy and show which rules they reach")
    .argument("[files...]", "test case files", ["policy.test.yaml"])
    .option("-p, --policy <file>", "policy to test instead of the one that the cases name")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(test);
}

function test(files: readonly string[], flags: Flags): void {
  const reports = files.map((file) => {
    const cases = readCases(file);
    const policy = flags.policy ?? policyFor(file, cases);
    return { file, policy, ...runCases(compilePolicyFile(policy), cases.cases) };
  });
  const failed = reports.some(({ results }) => results.some(({ passed }) => !passed));
  if (failed) process.exitCode = EXIT.negative;
  if (flags.json === true) printJson({ ok: !failed, files: reports });
  else for (const report of reports) printReport(report.file, report);
}

function policyFor(file: string, cases: CaseFile): string {
  if (cases.policy !== undefined) return resolve(dirname(file), cases.policy);
  const beside = file.replace(/\.test\.(ya?ml)$/, ".$1");
  if (beside !== file && existsSync(beside)) return beside;
  throw new TypeError(
    `${file} names no policy. Fix: add a line "policy: FILE" to it, or use --policy`,
  );
}

function printReport(file: string, report: CaseReport): void {
  const passed = report.results.filter((result) => result.passed).length;
  for (const { name, passed, differences } of report.results) {
    printLine(`${passed ? pc.green("pass") : pc.red("fail")} ${name}`);
    for (const difference of differences) printLine(`     ${difference}`);
  }
  const reached = report.rules.length - report.neverHit.length;
  printLine("");
  printLine(`${file}: ${passed} of ${report.results.length} cases pass`);
  printLine(`${reached} of ${report.rules.length} rules block in at least one case`);
  if (report.neverHit.length > 0) printLine(`rules without such a case (not an error):`);
  for (const rule of report.neverHit) printLine(`  ${pc.dim(rule)}`);
}
