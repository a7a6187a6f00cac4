import { CONFIG_SCHEMA } from "@countersign/gateway";
import type { Command } from "commander";
import { printJson } from "../output/print.js";

const EXAMPLE = `
Put this line at the top of countersign.yaml, and editors with a YAML language server complete and check it:
  # yaml-language-server: $schema=./countersign.schema.json

Example:
  $ countersign config schema > countersign.schema.json
`;

/** Adds `countersign config`. */
export function registerConfig(program: Command): void {
  program
    .command("config")
    .description("about countersign.yaml")
    .command("schema")
    .description("print the JSON Schema of countersign.yaml")
    .option("--json", "accepted like everywhere; the output is JSON anyway")
    .addHelpText("after", EXAMPLE)
    .action(() => printJson(CONFIG_SCHEMA));
}
