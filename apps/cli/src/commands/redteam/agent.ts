import {
  createHardenedAgent,
  createVulnerableAgent,
  serveAgent,
} from "@countersign/redteam/agents";
import type { Command } from "commander";
import { printJson, printLine } from "../../output/print.js";
import { readPort } from "../capture/arguments.js";
import { readServersFile } from "./servers.js";

const EXAMPLE = `
The agent listens on the loopback interface only. It follows rules and uses no language model.

Examples:
  $ countersign redteam agent --port 8000
  $ countersign redteam run --target http://127.0.0.1:8000/
`;

type Flags = { hardened?: boolean; port: number; serversFile?: string; json?: boolean };

/** Adds `countersign redteam agent`. */
export function registerAgent(group: Command): void {
  group
    .command("agent")
    .description("start a vulnerable agent for tests, or a hardened one")
    .option("--hardened", "start the agent that resists the attacks")
    .option("-p, --port <number>", "port on 127.0.0.1, 0 for a free one", readPort, 0)
    .option("--servers-file <file>", "file with the addresses of its MCP and A2A servers")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(agent);
}

async function agent(flags: Flags): Promise<void> {
  const kind = flags.hardened === true ? "hardened" : "vulnerable";
  const { serversFile: file } = flags;
  const options = file === undefined ? {} : { servers: () => readServersFile(file) };
  const logic = kind === "hardened" ? createHardenedAgent(options) : createVulnerableAgent(options);
  const running = await serveAgent(logic, flags.port);
  const { url, webSocketUrl } = running;
  if (flags.json === true) printJson({ kind, url, webSocketUrl });
  else {
    printLine(`${kind} agent: ${url} and ${webSocketUrl}`);
    printLine(`Next: countersign redteam run --target ${url}`);
  }
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  await running.close();
}
