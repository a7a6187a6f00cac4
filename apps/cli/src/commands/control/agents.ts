import { printableText } from "@countersign/core";
import type { Command } from "commander";
import pc from "picocolors";
import { COMMAND } from "../../output/command-name.js";
import { printJson, printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";
import { addControlFlags, callControl, TOKEN_VARIABLE } from "./control-plane.js";
import type { ControlFlags } from "./control-plane.js";
import { runTable } from "./read-runs.js";
import type { Run } from "./read-runs.js";

type Flags = ControlFlags & { readonly json?: boolean };
type StopFlags = Flags & { readonly all?: boolean; readonly yes?: boolean };

type AgentState = {
  readonly name: string;
  readonly health: string;
  readonly open_runs: number;
  readonly recent_failures: readonly { readonly code: string }[];
  readonly contained?: { readonly operator: string; readonly at: number };
};

type StopList = {
  readonly agents: readonly string[];
  readonly runs: readonly Run[];
  readonly partial?: true;
};

const LIST_EXAMPLE = `
The command asks a running gateway, with the token of an operator in ${TOKEN_VARIABLE} or --token-file.

Examples:
  $ countersign agents list
  $ countersign agents list --json
`;
const STOP_EXAMPLE = `
Without --yes, the command lists the runs that it would end, and stops nothing. With --yes, the gateway ends them and refuses
new runs of the agent until countersign agents resume. Needs the role operator.

Examples:
  $ countersign agents stop support
  $ countersign agents stop support --yes
  $ countersign agents stop --all --yes
`;
const RESUME_EXAMPLE = `
Examples:
  $ countersign agents resume support
`;

/** Adds `countersign agents …`. */
export function registerAgents(program: Command): void {
  const group = program
    .command("agents")
    .description("list, stop and resume agents of a running gateway");
  const verb = (name: string, description: string, example: string): Command =>
    addControlFlags(group.command(name).description(description))
      .option("--json", "print JSON")
      .addHelpText("after", example);
  verb("list", "list the agents with their health and open runs", LIST_EXAMPLE).action(listAgents);
  verb("stop", "end all runs of an agent, and refuse new ones", STOP_EXAMPLE)
    .argument("[agent]", "name of the agent")
    .option("--all", "every agent")
    .option("--yes", "stop; without it the command lists the runs")
    .action(stopAgents);
  verb("resume", "let a stopped agent have runs again", RESUME_EXAMPLE)
    .argument("<agent>", "name of the agent")
    .action(resumeAgent);
}

async function listAgents(flags: Flags): Promise<void> {
  const answer = await callControl(flags, "/v1/agents");
  if (flags.json === true) {
    printJson(answer);
    return;
  }
  const { items } = answer as unknown as { readonly items: readonly AgentState[] };
  const rows = items.map(
    ({ name, health, open_runs: open, recent_failures: failures, contained }) => [
      printableText(name),
      contained === undefined ? health : `stopped by ${printableText(contained.operator)}`,
      String(open),
      printableText(failures[0]?.code ?? ""),
    ],
  );
  printLine(formatTable(["agent", "state", "open runs", "last failure"], rows));
}

async function stopAgents(agent: string | undefined, flags: StopFlags): Promise<void> {
  if ((agent === undefined) !== (flags.all === true)) {
    throw new TypeError(
      "name one agent, or every agent with --all. Fix: see countersign agents list",
    );
  }
  const query = agent === undefined ? "" : `?agent=${encodeURIComponent(agent)}`;
  const listed = (await callControl(flags, `/v1/stop-all${query}`)) as unknown as StopList;
  const names = printableText(listed.agents.join(", "));
  if (flags.yes !== true) {
    if (flags.json === true) {
      printJson({ ...listed, stopped: false });
      return;
    }
    if (listed.runs.length > 0) printLine(runTable(listed.runs));
    printLine(
      `Nothing is stopped yet. With --yes, the gateway ends these ${listed.runs.length} runs and refuses new runs of ${names}.`,
    );
    return;
  }
  const body = {
    ...(agent === undefined ? {} : { agent }),
    expect_runs: listed.runs.length,
  };
  const answer = await callControl(flags, "/v1/stop-all", body);
  if (flags.json === true) {
    printJson(answer);
    return;
  }
  const { stopped, partial, unrecorded } = answer as unknown as {
    readonly stopped: readonly unknown[];
    readonly partial?: true;
    readonly unrecorded?: true;
  };
  printLine(
    `${pc.green("stopped")} ${names}: ${stopped.length} ${stopped.length === 1 ? "run" : "runs"} ended, new runs are refused`,
  );
  if (partial === true) {
    printLine(pc.yellow("A gateway or the store did not respond. Fix: run the command again"));
  }
  if (unrecorded === true) printLine(pc.yellow("The log has no receipt of this stop."));
  printLine(pc.dim(`Let it run again: ${COMMAND} agents resume AGENT`));
}

async function resumeAgent(agent: string, flags: Flags): Promise<void> {
  const answer = await callControl(flags, `/v1/agents/${encodeURIComponent(agent)}/resume`, {});
  if (flags.json === true) printJson(answer);
  else printLine(`${pc.green("resumed")} ${printableText(agent)}: it gets new runs again`);
}
