import { POLICY_SCHEMA } from "@countersign/policy";
import { CASE_FILE_SCHEMA } from "@countersign/policy/cases";
import type { Command } from "commander";
import { printJson } from "../../output/print.js";

const EXAMPLE = `
Put this line at the top of a policy, and editors with a YAML language server complete and check it:
  # yaml-language-server: $schema=./policy.schema.json

Example:
  $ countersign policy schema > policy.schema.json
`;

/** Adds `countersign policy schema`. */
export function registerSchema(group: Command): void {
  group
    .command("schema")
    .description("print the JSON Schema of policies")
    .option("--cases", "the schema of files with cases instead")
    .option("--json", "accepted like everywhere; the output is JSON anyway")
    .addHelpText("after", EXAMPLE)
    .action((flags: { cases?: boolean }) =>
      printJson(flags.cases === true ? CASE_FILE_SCHEMA : POLICY_SCHEMA),
    );
}
