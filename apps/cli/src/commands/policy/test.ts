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
A file of cases stands beside its policy (policy.yaml, policy.test.yaml). Each case gives an event, a
capability and the decision that is expected. Exit code: 0 all pass, 1 one fails, 2 a file is unusable.

Example:
  $ countersign policy test policy.test.yaml
`;

type Flags = { policy?: string; json?: boolean };

/** Adds `countersign policy test`. */
export function registerTest(group: Command): void {
  group
    .command("test")
    .description("run the cases beside a policy and print which rules they reach")
    .argument("[files...]", "files of cases", ["policy.test.yaml"])
    .option("-p, --policy <file>", "policy file, instead of the one the cases name")
    .option("--json", "for machines")
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
  throw new TypeError(`${file} names no policy; add "policy:" or give --policy`);
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
  printLine(`rules that some case makes block: ${reached} of ${report.rules.length}`);
  for (const rule of report.neverHit) printLine(`  ${pc.yellow("never")} ${rule}`);
}
