import { existsSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { printJson, printLine } from "../../output/print.js";
import { skeleton } from "./skeleton.js";

const EXAMPLE = `
Example:
  $ countersign redteam new forged-refund.yaml --id ACME-001
  $ countersign redteam validate forged-refund.yaml
`;

type Flags = { id: string; force?: boolean; json?: boolean };

/** Adds `countersign redteam new`. */
export function registerNew(group: Command): void {
  group
    .command("new")
    .description("write an annotated document to start from")
    .argument("[file]", "where to", "attack.yaml")
    .option("--id <id>", "id of the attack", "ACME-001")
    .option("--force", "replace the file when it is there")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(create);
}

function create(file: string, flags: Flags): void {
  if (!/^[A-Z][A-Z0-9-]*-[0-9]{3,}$/.test(flags.id)) {
    throw new TypeError("an id is capital letters and a number of three digits or more: ACME-001");
  }
  if (existsSync(file) && flags.force !== true) {
    throw new TypeError(`${file} is there already; --force replaces it`);
  }
  writeFileSync(file, skeleton(flags.id));
  if (flags.json === true) printJson({ file, id: flags.id });
  else {
    printLine(`wrote ${file}`);
    printLine(`next: countersign redteam run ${file} --demo vulnerable`);
  }
}
