import {
  createHardenedAgent,
  createVulnerableAgent,
  serveAgent,
} from "@countersign/redteam/agents";
import type { Command } from "commander";
import { printJson, printLine } from "../../output/print.js";
import { readPort } from "../capture/arguments.js";

const EXAMPLE = `
The agent listens on the loopback interface only. It is a stand-in made of rules, not a language model.

Example:
  $ countersign redteam agent --port 8000
  $ countersign redteam run --target http://127.0.0.1:8000/
`;

type Flags = { hardened?: boolean; port: number; json?: boolean };

/** Adds `countersign redteam agent`. */
export function registerAgent(group: Command): void {
  group
    .command("agent")
    .description("start the demo agent that the library attacks, vulnerable or hardened")
    .option("--hardened", "the one that resists")
    .option("-p, --port <number>", "port on 127.0.0.1, 0 for a free one", readPort, 0)
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(agent);
}

async function agent(flags: Flags): Promise<void> {
  const kind = flags.hardened === true ? "hardened" : "vulnerable";
  const logic = kind === "hardened" ? createHardenedAgent() : createVulnerableAgent();
  const running = await serveAgent(logic, flags.port);
  const { url, webSocketUrl } = running;
  if (flags.json === true) printJson({ kind, url, webSocketUrl });
  else {
    printLine(`${kind} agent: ${url} and ${webSocketUrl}`);
    printLine(`next: countersign redteam run --target ${url}`);
  }
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  await running.close();
}
