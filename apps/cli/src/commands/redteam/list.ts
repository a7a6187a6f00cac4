import { visible } from "@countersign/redteam";
import type { Command } from "commander";
import { printJson, printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";
import { loadDocuments } from "./sources.js";

const EXAMPLE = `
Examples:
  $ countersign redteam list --filter approval
  $ countersign redteam list --filter ASI06:2025
`;

type Flags = { filter?: string; json?: boolean };

/** Adds `countersign redteam list`. */
export function registerList(group: Command): void {
  group
    .command("list")
    .description("list attack documents")
    .argument("[documents...]", "files or folders (default: the built-in library)")
    .option("-f, --filter <words>", "only documents with one of these words")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(list);
}

function list(paths: readonly string[], flags: Flags): void {
  const documents = loadDocuments(paths, flags.filter).map((loaded) => {
    if (!loaded.ok) {
      return { file: loaded.name, id: "", name: "invalid", severity: "", mappings: [], tags: [] };
    }
    const { attack } = loaded.document;
    return {
      file: loaded.name,
      id: attack.id ?? "",
      name: attack.name,
      severity: attack.severity?.level ?? "",
      mappings: (attack.classification?.mappings ?? []).map(({ id }) => id),
      tags: attack.classification?.tags ?? [],
    };
  });
  if (flags.json === true) {
    printJson({ documents });
    return;
  }
  const rows = documents.map(({ file, id, name, severity, mappings }) =>
    [id === "" ? file : id, severity, mappings.join(" "), name].map(visible),
  );
  printLine(formatTable(["id", "severity", "mappings", "name"], rows));
  printLine("");
  printLine(`${documents.length} documents`);
}
