import { existsSync, readFileSync } from "node:fs";
import { CountersignError } from "@countersign/core";
import { createJournal, loadConfig, startGateway } from "@countersign/gateway";
import type { Command } from "commander";
import pc from "picocolors";
import { printJson, printLine } from "../output/print.js";
import { compilePolicyFile } from "./policy/policy-file.js";
import "./errors.js";

type ServeFlags = { config: string; check?: boolean; json?: boolean };

const EXAMPLE = `
Example:
  $ countersign init
  $ countersign serve
  $ countersign serve --config /etc/countersign/countersign.yaml --check
`;

/** Adds `countersign serve`. */
export function registerServe(program: Command): void {
  program
    .command("serve")
    .description("run the gateway in front of the agents that countersign.yaml names")
    .option("-c, --config <file>", "configuration file", "countersign.yaml")
    .option("--check", "read configuration and policy, say what would be served, and stop")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(serve);
}

async function serve(flags: ServeFlags): Promise<void> {
  if (!existsSync(flags.config)) {
    throw new CountersignError(
      "ERR_CLI_NO_CONFIG",
      `${flags.config} is not there; \`countersign init\` writes one to start from`,
      { file: flags.config },
    );
  }
  const config = loadConfig(readFileSync(flags.config, "utf8"), {
    file: flags.config,
    environment: process.env,
  });
  const policy = checkPolicy(config.policyFile);
  if (flags.check === true) {
    const agents = config.agents.map(({ name, url, transport }) => ({
      name,
      url: url.href,
      transport,
    }));
    if (flags.json === true) {
      printJson({ ok: true, agents, policy: policy ?? null });
      return;
    }
    printLine(`${pc.green("ok")} ${flags.config}`);
    for (const { name, url, transport } of agents) {
      printLine(`  /agents/${name} → ${url} (${transport})`);
    }
    printLine(
      policy === undefined
        ? "  no policy named: the built-in starter decides"
        : `  policy ${policy.file}, ${policy.mode}, hash ${policy.hash.slice(0, 16)}…`,
    );
    return;
  }
  const journal = createJournal();
  const running = await startGateway(config, { journal });
  printLine(`${pc.green("listening")} ${running.dataUrl}  control ${running.controlUrl}`);
  if (running.freshAdminToken !== undefined) {
    printLine(`admin token, shown once: ${pc.bold(running.freshAdminToken)}`);
  }
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
    process.on("SIGHUP", () => {
      const result = running.policy.reload();
      if (result.replaced) journal.info({ hash: result.policy.hash }, "policy reloaded");
      else journal.warn({ issues: result.issues }, "policy kept: the new one does not load");
    });
  });
  await running.close();
}

/** A policy that is missing or broken is said before anything is opened. */
function checkPolicy(
  file: string | undefined,
): { file: string; mode: string; hash: string } | undefined {
  if (file === undefined) return undefined;
  if (!existsSync(file)) {
    throw new CountersignError(
      "ERR_CLI_NO_FILE",
      `the policy ${file} is not there; \`countersign init\` writes one to start from`,
      { file },
    );
  }
  const { mode, hash } = compilePolicyFile(file);
  return { file, mode, hash };
}
