import { compilePolicy, formatIssue, formatNote } from "@countersign/policy";
import type { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { readPolicyFile } from "./policy-file.js";

const EXAMPLE = `
Exit code: 0 when every file loads, 1 when one does not, 2 when one cannot be read.

Example:
  $ countersign policy check policy.yaml
`;

type Flags = { json?: boolean; strict?: boolean };

/** Adds `countersign policy check`. */
export function registerCheck(group: Command): void {
  group
    .command("check")
    .description("say whether policies load, and where they do not")
    .argument("[files...]", "policy files", ["policy.yaml"])
    .option("--strict", "remarks count as failures")
    .option("--json", "for machines")
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
