import { existsSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { printJson, printLine } from "../../output/print.js";
import { skeleton } from "./skeleton.js";

const EXAMPLE = `
Examples:
  $ countersign redteam new forged-refund.yaml --id ACME-001
  $ countersign redteam validate forged-refund.yaml
`;

type Flags = { id: string; force?: boolean; json?: boolean };

/** Adds `countersign redteam new`. */
export function registerNew(group: Command): void {
  group
    .command("new")
    .description("write a commented attack document to start from")
    .argument("[file]", "file to write", "attack.yaml")
    .option("--id <id>", "id of the attack", "ACME-001")
    .option("--force", "overwrite an existing file")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(create);
}

function create(file: string, flags: Flags): void {
  if (!/^[A-Z][A-Z0-9-]*-[0-9]{3,}$/.test(flags.id)) {
    throw new TypeError(
      "--id is not valid. Fix: write capital letters and three or more digits, for example ACME-001",
    );
  }
  if (existsSync(file) && flags.force !== true) {
    throw new TypeError(`${file} exists. Fix: add --force to overwrite it, or name another file`);
  }
  writeFileSync(file, skeleton(flags.id));
  if (flags.json === true) printJson({ file, id: flags.id });
  else {
    printLine(`wrote ${file}`);
    printLine(`Next: countersign redteam run ${file} --demo vulnerable`);
  }
}
