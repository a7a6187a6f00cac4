import { dirname, resolve } from "node:path";
import { CountersignError, isCountersignError } from "@countersign/core";
import { MAX_POLICY_BYTES, readRegularFile } from "@countersign/gateway";
import { compilePolicy, formatIssue, readPolicy } from "@countersign/policy";
import type { CompiledPolicy, LoadResult, PolicyReader } from "@countersign/policy";
import { readText } from "../../files/read-file.js";

/** Finds the file an `extends` names beside the file it stands in. */
const readBeside: PolicyReader = (reference, from) => {
  const file = resolve(dirname(from), reference);
  try {
    // An untrusted text names the file: a pipe without a writer would block for ever.
    return { file, text: readRegularFile(file, MAX_POLICY_BYTES).toString("utf8") };
  } catch (error) {
    if (isCountersignError(error)) throw error;
    return undefined;
  }
};

/** Reads a policy and everything it extends; problems are values. */
export function readPolicyFile(file: string): LoadResult {
  return readPolicy(readText(file), { file, reader: readBeside });
}

/** Reads and compiles a policy, for verbs that cannot go on without one. */
export function compilePolicyFile(file: string): CompiledPolicy {
  return compileLoaded(file, readPolicyFile(file));
}

/** Compiles what was read, or says what is wrong with it. */
export function compileLoaded(file: string, { policy, issues }: LoadResult): CompiledPolicy {
  if (policy !== undefined) return compilePolicy(policy);
  throw new CountersignError(
    "ERR_POLICY_INVALID",
    `the policy is not valid\n${issues.map((issue) => `  ${formatIssue(issue)}`).join("\n")}`,
    { file, issues },
  );
}
