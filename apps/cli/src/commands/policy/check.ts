import { compilePolicy, formatIssue, formatNote } from "@countersign/policy";
import type { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { readPolicyFile } from "./policy-file.js";

const EXAMPLE = `
Exit code: 0 every policy is valid, 1 a policy is not valid, 2 a file cannot be read.

Examples:
  $ countersign policy check policy.yaml
  $ countersign policy check policies/support.yaml policies/sales.yaml --strict --json
`;

type Flags = { json?: boolean; strict?: boolean };

/** Adds `countersign policy check`. */
export function registerCheck(group: Command): void {
  group
    .command("check")
    .description("check that policies are valid, and show where they are not")
    .argument("[files...]", "policy files", ["policy.yaml"])
    .option("--strict", "treat notes as errors")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(check);
}

function check(files: readonly string[], flags: Flags): void {
  const reports = files.map((file) => {
    const { policy, issues } = readPolicyFile(file);
    const rules = policy === undefined ? [] : compilePolicy(policy).rules;
    return {
      file,
      ok: policy !== undefined,
      hash: policy?.hash ?? null,
      name: policy?.document.name ?? null,
      mode: policy?.document.mode ?? "enforce",
      rules,
      issues,
      notes: policy?.notes ?? [],
    };
  });
  const failed = reports.some(
    ({ ok, notes }) => !ok || (flags.strict === true && notes.length > 0),
  );
  if (failed) process.exitCode = EXIT.negative;
  if (flags.json === true) {
    printJson({ ok: !failed, files: reports });
    return;
  }
  for (const { file, ok, hash, mode, rules, issues, notes } of reports) {
    for (const issue of issues) printLine(`${pc.red("error")} ${formatIssue(issue)}`);
    for (const note of notes) printLine(`${pc.yellow("note")}  ${formatNote(note)}`);
    if (ok) {
      printLine(
        `${pc.green("ok")}    ${file}: ${rules.length} rules, ${mode}, hash ${(hash ?? "").slice(0, 16)}…`,
      );
    }
  }
}
