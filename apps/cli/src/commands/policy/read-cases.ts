import { CountersignError } from "@countersign/core";
import { formatIssue } from "@countersign/policy";
import { readCaseFile } from "@countersign/policy/cases";
import type { CaseFile } from "@countersign/policy/cases";
import { readText } from "../../files/read-file.js";

/** Reads a file of cases, or says what is wrong with it and where. */
export function readCases(file: string): CaseFile {
  const text = readText(file);
  const { file: cases, issues } = readCaseFile(text, file);
  if (cases !== undefined) return cases;
  if (/^hushspec\s*:/mu.test(text)) {
    const beside = file.replace(/\.ya?ml$/u, ".test.yaml");
    throw new TypeError(
      `${file} is a policy, not a file of test cases. Fix: countersign policy test ${beside}`,
    );
  }
  throw new CountersignError(
    "ERR_POLICY_INVALID",
    `the test cases are not valid\n${issues.map((issue) => `  ${formatIssue(issue)}`).join("\n")}`,
    { file, issues },
  );
}
