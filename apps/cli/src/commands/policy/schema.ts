import { POLICY_SCHEMA } from "@countersign/policy";
import { CASE_FILE_SCHEMA } from "@countersign/policy/cases";
import type { Command } from "commander";
import { printJson } from "../../output/print.js";

const EXAMPLE = `
Put this line at the top of a policy. Editors with a YAML language server then complete and check the file:
  # yaml-language-server: $schema=./policy.schema.json

Examples:
  $ countersign policy schema > policy.schema.json
`;

/** Adds `countersign policy schema`. */
export function registerSchema(group: Command): void {
  group
    .command("schema")
    .description("print the JSON Schema of policies")
    .option("--cases", "print the schema of test case files instead")
    .option("--json", "accepted for consistency; the output is always JSON")
    .addHelpText("after", EXAMPLE)
    .action((flags: { cases?: boolean }) =>
      printJson(flags.cases === true ? CASE_FILE_SCHEMA : POLICY_SCHEMA),
    );
}
