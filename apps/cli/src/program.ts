import { Command } from "commander";
import { registerCapability } from "./commands/capability/index.js";
import { registerCapture } from "./commands/capture/index.js";
import { registerConfig } from "./commands/config.js";
import { registerAgents } from "./commands/control/agents.js";
import { registerRuns } from "./commands/control/runs.js";
import { registerDemo } from "./commands/demo.js";
import { registerDoctor } from "./commands/doctor/index.js";
import { registerHelp } from "./commands/help.js";
import { registerInit } from "./commands/init.js";
import { registerKeys } from "./commands/keys/index.js";
import { registerOperators } from "./commands/operators/index.js";
import { registerPolicy } from "./commands/policy/index.js";
import { registerReceipts } from "./commands/receipts/index.js";
import { registerRedteam } from "./commands/redteam/index.js";
import { registerReplay } from "./commands/replay/index.js";
import { registerServe } from "./commands/serve.js";
import { printWelcome } from "./commands/welcome.js";
import { registerWitness } from "./commands/witness/index.js";
import { asTyped } from "./output/command-name.js";
import { VERSION } from "./output/version.js";

const EXAMPLE = `
Examples:
  $ countersign demo                             watch the gateway at work
  $ countersign init                             write the files of a gateway
  $ countersign serve                            start the gateway
  $ countersign receipts list --blocked          list the events that it blocked
  $ countersign policy explain gateway/role      explain a rule, an error code or a receipt
  $ countersign help receipts verify             show the options and examples of a command
`;

/** Runs the command with the arguments of a user. Without arguments it prints the first steps. */
export async function run(args: readonly string[]): Promise<void> {
  if (args.length === 0) printWelcome();
  else await createProgram().parseAsync(args, { from: "user" });
}

/** The whole command: one group of verbs per area, each registered by its own folder. */
export function createProgram(): Command {
  const program = new Command("countersign")
    .description(
      "Runs the gateway between AI agents and the people who use them, and inspects its receipts.",
    )
    .version(VERSION)
    .showHelpAfterError("Add --help to see the options and examples.")
    .addHelpText("after", EXAMPLE)
    .exitOverride()
    .configureOutput({ writeOut: (text) => void process.stdout.write(asTyped(text)) })
    .helpCommand(false)
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true });
  registerDemo(program);
  registerInit(program);
  registerServe(program);
  registerConfig(program);
  registerPolicy(program);
  registerCapability(program);
  registerKeys(program);
  registerOperators(program);
  registerReceipts(program);
  registerWitness(program);
  registerRuns(program);
  registerAgents(program);
  registerRedteam(program);
  registerDoctor(program);
  registerCapture(program);
  registerReplay(program);
  registerHelp(program);
  return program;
}
