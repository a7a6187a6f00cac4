import { CountersignError } from "@countersign/core";
import {
  createOperatorToken,
  operatorNameProblem,
  parseOperators,
  readOperatorsFile,
  rewriteFile,
  ROLES,
} from "@countersign/gateway";
import type { OperatorEntry, Role } from "@countersign/gateway";
import { Option } from "commander";
import type { Command } from "commander";
import pc from "picocolors";
import { giveToFolderOwner } from "../../files/owner.js";
import { pathExists } from "../../files/path-exists.js";
import { readText } from "../../files/read-file.js";
import { printJson, printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";
import { CONFIG_FILE, readConfiguration } from "../configuration.js";
import "../errors.js";

type Flags = { config: string; file?: string; json?: boolean };

const ADD_EXAMPLE = `
The command prints the token once. The file has only its hash. A running gateway follows the file.
Without control.operators_file in the configuration, the command prints the lines for control.operators instead.

Examples:
  $ countersign operators add alice --role operator
  $ countersign operators add ci --role viewer --file operators.txt --json
`;
const ROTATE_EXAMPLE = `
The old token and its open sessions end within about a second.

Examples:
  $ countersign operators rotate alice
  $ countersign operators rotate alice --json
`;
const LIST_EXAMPLE = `
Examples:
  $ countersign operators list
  $ countersign operators list --json
`;
const REMOVE_EXAMPLE = `
The token of the operator and its open sessions end within about a second.

Examples:
  $ countersign operators remove alice
`;

/** Adds `countersign operators …`. */
export function registerOperators(program: Command): void {
  const group = program
    .command("operators")
    .description("add, list and remove operators of the control plane, and rotate their tokens");
  const verb = (name: string, description: string, example: string): Command =>
    group
      .command(name)
      .description(description)
      .option("-c, --config <file>", "configuration that names the file of operators", CONFIG_FILE)
      .option("--file <file>", "file of operators, instead of the configured one")
      .option("--json", "print JSON")
      .addHelpText("after", example);
  verb("add", "add an operator, and show the new token once", ADD_EXAMPLE)
    .argument("<name>", "name in receipts: letters, digits and any of . @ _ -")
    .addOption(
      new Option("--role <role>", "what the operator may do").choices(ROLES).makeOptionMandatory(),
    )
    .action((name: string, flags: Flags & { role: Role }) => addOperator(name, flags.role, flags));
  verb("rotate", "replace the token of an operator, and show the new one once", ROTATE_EXAMPLE)
    .argument("<name>", "name of the operator")
    .action(rotateOperator);
  verb("list", "list the operators and their roles", LIST_EXAMPLE).action(listOperators);
  verb("remove", "remove an operator", REMOVE_EXAMPLE)
    .argument("<name>", "name of the operator")
    .action(removeOperator);
}

/** The file of operators; `undefined` when neither a flag nor the configuration names one. */
function fileOf(flags: Flags): string | undefined {
  return flags.file ?? readConfiguration(flags.config)?.control.operatorsFile;
}

async function addOperator(name: string, role: Role, flags: Flags): Promise<void> {
  const problem = operatorNameProblem(name);
  if (problem !== undefined) {
    throw new CountersignError("ERR_CLI_OPERATOR", `${name} cannot be added: ${problem}`, {});
  }
  const { key: token, hash } = createOperatorToken();
  const line = `${name} ${role} ${hash}`;
  const file = fileOf(flags);
  if (file !== undefined) {
    const text = pathExists(file) ? readText(file) : "";
    const known = [...parseOperators(text, file), ...(configured(flags) ?? [])];
    if (known.some((entry) => entry.name === name)) {
      throw new CountersignError(
        "ERR_CLI_OPERATOR",
        `${name} is an operator already. Fix: run countersign operators rotate ${name} for a new token`,
        {},
      );
    }
    await write(file, `${text.replace(/(?<!\n|^)$/u, "\n")}${line}\n`);
  }
  if (flags.json === true) {
    printJson({ name, role, token, hash, line, ...(file === undefined ? {} : { file }) });
    return;
  }
  printToken(name, token);
  if (file !== undefined) printLine(`${pc.green("added")} ${name} as ${role} to ${file}`);
  else {
    printLine("Put this into countersign.yaml, and restart the gateway:");
    printLine("");
    printLine("  control:");
    printLine("    operators:");
    printLine(`      - { name: ${name}, role: ${role}, token: "${hash}" }`);
  }
}

async function rotateOperator(name: string, flags: Flags): Promise<void> {
  const file = existingFile(flags);
  const { key: token, hash } = createOperatorToken();
  const role = await changeLine(file, name, ({ role: kept }) => `${name} ${kept} ${hash}`);
  if (flags.json === true) {
    printJson({ name, role, token, hash, line: `${name} ${role} ${hash}`, file });
    return;
  }
  printToken(name, token);
  printLine(`${pc.green("rotated")} the token of ${name} in ${file}; the old token ends now`);
}

async function removeOperator(name: string, flags: Flags): Promise<void> {
  const file = existingFile(flags);
  const role = await changeLine(file, name, () => undefined);
  if (flags.json === true) printJson({ name, role, removed: true, file });
  else printLine(`${pc.green("removed")} ${name} from ${file}`);
}

function listOperators(flags: Flags): void {
  const file = fileOf(flags);
  const inFile = file !== undefined && pathExists(file) ? readOperatorsFile(file) : [];
  const rows = [
    ...(configured(flags) ?? []).map(({ name, role }) => ({ name, role, source: flags.config })),
    ...inFile.map(({ name, role }) => ({ name, role, source: file as string })),
  ];
  if (flags.json === true) printJson({ operators: rows });
  else if (rows.length === 0) {
    printLine(
      "No operators are listed; the admin token of the key directory works. Next: countersign operators add NAME --role viewer",
    );
  } else {
    const cells = rows.map(({ name, role, source }) => [name, role, source]);
    printLine(formatTable(["name", "role", "source"], cells));
  }
}

function configured(flags: Flags): readonly OperatorEntry[] | undefined {
  return readConfiguration(flags.config)?.control.operators;
}

function printToken(name: string, token: string): void {
  printLine(`token  ${pc.bold(token)}`);
  printLine(`${pc.yellow("The command shows the token only once.")} Give it to ${name}.`);
}

/** The file that a change needs. */
function existingFile(flags: Flags): string {
  const file = fileOf(flags);
  if (file !== undefined && pathExists(file)) return file;
  throw new CountersignError(
    "ERR_CLI_OPERATOR",
    file === undefined
      ? "no file of operators is configured. Fix: set control.operators_file in the configuration, or name a file with --file; change control.operators by hand"
      : `${file} does not exist. Fix: run countersign operators add NAME --role ROLE, which creates it`,
    {},
  );
}

/** Replaces or removes the line of an operator; comments and other lines stay. Returns the role. */
async function changeLine(
  file: string,
  name: string,
  change: (entry: OperatorEntry) => string | undefined,
): Promise<Role> {
  const text = readText(file);
  const entry = parseOperators(text, file).find((one) => one.name === name);
  if (entry === undefined) {
    throw new CountersignError(
      "ERR_CLI_OPERATOR",
      `${name} is not in ${file}. Fix: run countersign operators list to see the names`,
      {},
    );
  }
  const line = change(entry);
  const lines = text
    .split("\n")
    .flatMap((one) => (one.trim().split(/\s+/u)[0] === name ? (line ?? []) : one));
  await write(file, lines.join("\n"));
  return entry.role;
}

async function write(file: string, text: string): Promise<void> {
  const isNew = !pathExists(file);
  await rewriteFile(file, text);
  if (isNew) giveToFolderOwner(file);
}
