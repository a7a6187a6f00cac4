import { visible } from "@countersign/redteam";
import type { LoadedDocument } from "@countersign/redteam";
import type { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { loadDocuments } from "./sources.js";

const EXAMPLE = `
Exit code: 0 every document is valid, 1 a document is not valid, 2 a file cannot be read.

Examples:
  $ countersign redteam validate attacks/
`;

type Flags = { json?: boolean; strict?: boolean };

/** Adds `countersign redteam validate`. */
export function registerValidate(group: Command): void {
  group
    .command("validate")
    .description("check that attack documents are valid OATF, and show where they are not")
    .argument("[documents...]", "files or folders (default: the built-in library)")
    .option("--strict", "treat warnings as errors")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(validate);
}

function validate(paths: readonly string[], flags: Flags): void {
  const documents = loadDocuments(paths, undefined);
  const isBad = (loaded: LoadedDocument): boolean =>
    !loaded.ok || (flags.strict === true && loaded.warnings.length > 0);
  const failed = documents.some(isBad);
  if (failed) process.exitCode = EXIT.negative;
  if (flags.json === true) {
    const files = documents.map((loaded) => ({
      name: loaded.name,
      ok: loaded.ok,
      problems: loaded.ok ? [] : loaded.problems,
      warnings: loaded.ok ? loaded.warnings : [],
    }));
    printJson({ ok: !failed, documents: files });
    return;
  }
  for (const loaded of documents) printDocument(loaded, flags.strict === true);
  const valid = documents.filter(({ ok }) => ok).length;
  printLine(`${valid} of ${documents.length} documents are valid`);
}

type Finding = {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
};

function printDocument(loaded: LoadedDocument, showsWarnings: boolean): void {
  const show = (word: string, { code, message, path, line, column }: Finding): void => {
    const place = line === undefined ? "" : `:${line}:${column ?? 1}`;
    printLine(`${word} ${visible(`${loaded.name}${place} ${code} ${path ?? ""} ${message}`)}`);
  };
  if (!loaded.ok) for (const problem of loaded.problems) show(pc.red("error"), problem);
  else if (showsWarnings) for (const warning of loaded.warnings) show(pc.yellow("note "), warning);
}
