import { Command } from "commander";
import { registerCapability } from "./commands/capability/index.js";
import { registerCapture } from "./commands/capture/index.js";
import { registerConfig } from "./commands/config.js";
import { registerDemo } from "./commands/demo.js";
import { registerDoctor } from "./commands/doctor/index.js";
import { registerHelp } from "./commands/help.js";
import { registerInit } from "./commands/init.js";
import { registerKeys } from "./commands/keys/index.js";
import { registerPolicy } from "./commands/policy/index.js";
import { registerReceipts } from "./commands/receipts/index.js";
import { registerRedteam } from "./commands/redteam/index.js";
import { registerReplay } from "./commands/replay/index.js";
import { registerServe } from "./commands/serve.js";
import { VERSION } from "./output/version.js";

const EXAMPLE = `
Example:
  $ countersign demo                             look first
  $ countersign init && countersign serve        then put it in front of an agent
  $ countersign receipts list --blocked          what was decided
  $ countersign help receipts verify             every verb has options, an example and --json
`;

/** The whole command: one group of verbs per area, each registered by its own folder. */
export function createProgram(): Command {
  const program = new Command("countersign")
    .description("The gateway between AI agents and the people who use them.")
    .version(VERSION)
    .showHelpAfterError("(run with --help for the options and an example)")
    .addHelpText("after", EXAMPLE)
    .exitOverride()
    .helpCommand(false)
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true });
  registerDemo(program);
  registerInit(program);
  registerServe(program);
  registerConfig(program);
  registerPolicy(program);
  registerCapability(program);
  registerKeys(program);
  registerReceipts(program);
  registerRedteam(program);
  registerDoctor(program);
  registerCapture(program);
  registerReplay(program);
  registerHelp(program);
  return program;
}
