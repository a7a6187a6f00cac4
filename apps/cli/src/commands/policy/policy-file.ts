import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CountersignError } from "@countersign/core";
import { compilePolicy, formatIssue, readPolicy } from "@countersign/policy";
import type { CompiledPolicy, LoadResult, PolicyReader } from "@countersign/policy";
import { readText } from "../../files/read-file.js";

/** Finds the file an `extends` names beside the file it stands in. */
const readBeside: PolicyReader = (reference, from) => {
  const file = resolve(dirname(from), reference);
  try {
    return { file, text: readFileSync(file, "utf8") };
  } catch {
    return undefined;
  }
};

/** Reads a policy and everything it extends; problems are values. */
export function readPolicyFile(file: string): LoadResult {
  return readPolicy(readText(file), { file, reader: readBeside });
}

/** Reads and compiles a policy, for verbs that cannot go on without one. */
export function compilePolicyFile(file: string): CompiledPolicy {
  const { policy, issues } = readPolicyFile(file);
  if (policy !== undefined) return compilePolicy(policy);
  throw new CountersignError(
    "ERR_POLICY_INVALID",
    `the policy does not load\n${issues.map((issue) => `  ${formatIssue(issue)}`).join("\n")}`,
    { file, issues },
  );
}
