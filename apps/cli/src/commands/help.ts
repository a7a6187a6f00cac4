import type { Command } from "commander";

/** Adds `countersign help`, which finds verbs inside groups too: `countersign help receipts verify`. */
export function registerHelp(program: Command): void {
  program
    .command("help")
    .description("options and an example of a command")
    .argument("[command...]", "its name, for a verb of a group both words")
    .option("--json", "accepted like everywhere; help is for people")
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
