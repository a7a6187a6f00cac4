import type { Command } from "commander";

const EXAMPLE = `
Examples:
  $ countersign help init
  $ countersign help receipts verify
`;

/** Adds `countersign help`, which finds verbs inside groups too: `countersign help receipts verify`. */
export function registerHelp(program: Command): void {
  program
    .command("help")
    .description("show the options and examples of a command")
    .argument("[command...]", "name of the command, for example: receipts verify")
    .option("--json", "accepted for consistency; help has no JSON form")
    .addHelpText("after", EXAMPLE)
    .action((words: readonly string[]) => {
      let found = program;
      for (const word of words) {
        const next = found.commands.find((command) => command.name() === word);
        if (next === undefined) {
          const name = words.join(" ");
          program.error(`error: unknown command '${name}'`, {
            code: "commander.unknownCommand",
          });
        }
        found = next;
      }
      found.outputHelp();
    });
}
