import { CountersignError } from "@countersign/core";
import { formatIssue } from "@countersign/policy";
import { readCaseFile } from "@countersign/policy/cases";
import type { CaseFile } from "@countersign/policy/cases";
import { readText } from "../../files/read-file.js";

/** Reads a file of cases, or says what is wrong with it and where. */
export function readCases(file: string): CaseFile {
  const { file: cases, issues } = readCaseFile(readText(file), file);
  if (cases !== undefined) return cases;
  throw new CountersignError(
    "ERR_POLICY_INVALID",
    `the test cases are not valid\n${issues.map((issue) => `  ${formatIssue(issue)}`).join("\n")}`,
    { file, issues },
  );
}
