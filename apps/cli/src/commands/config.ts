import { CONFIG_SCHEMA } from "@countersign/gateway";
import type { Command } from "commander";
import { printJson } from "../output/print.js";

const EXAMPLE = `
Put this line at the top of countersign.yaml. Editors with a YAML language server then complete and check the file:
  # yaml-language-server: $schema=./countersign.schema.json

Examples:
  $ countersign config schema > countersign.schema.json
`;

/** Adds `countersign config`. */
export function registerConfig(program: Command): void {
  program
    .command("config")
    .description("describe the format of countersign.yaml")
    .command("schema")
    .description("print the JSON Schema of countersign.yaml")
    .option("--json", "accepted for consistency; the output is always JSON")
    .addHelpText("after", EXAMPLE)
    .action(() => printJson(CONFIG_SCHEMA));
}
