import { CountersignError, printableText } from "@countersign/core";
import { Option } from "commander";
import type { Command } from "commander";
import pc from "picocolors";
import { COMMAND } from "../../output/command-name.js";
import { printJson, printLine } from "../../output/print.js";
import { addControlFlags, callControl, TOKEN_VARIABLE } from "./control-plane.js";
import type { ControlFlags } from "./control-plane.js";
import { readRuns, runTable } from "./read-runs.js";
import "../errors.js";

type ListFlags = ControlFlags & {
  readonly status?: string;
  readonly principal?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly json?: boolean;
};
type StopFlags = ControlFlags & { readonly session?: string; readonly json?: boolean };

const LIST_EXAMPLE = `
The command asks a running gateway, with the token of an operator in ${TOKEN_VARIABLE} or --token-file. Gateways forget old
runs; countersign receipts list has the decisions of all.

Examples:
  $ countersign runs list --status running
  $ countersign runs list --principal key:bob --token-file token
`;
const STOP_EXAMPLE = `
The client gets RUN_ERROR with the code RUN_STOPPED, and the log a receipt with the name of the operator. Needs the role
operator.

Examples:
  $ countersign runs stop run-7
  $ countersign runs stop run-7 --session s-1 --json
`;

/** Adds `countersign runs …`. */
export function registerRuns(program: Command): void {
  const group = program.command("runs").description("list and stop runs of a running gateway");
  addControlFlags(group.command("list").description("list runs, newest first"))
    .addOption(
      new Option("--status <status>", "only runs with this status").choices([
        "running",
        "finished",
        "failed",
        "stopped",
      ]),
    )
    .option("--principal <id>", "only runs of this principal")
    .option("--agent <id>", "only runs of this agent")
    .option("--session <id>", "only runs of this session")
    .option("--json", "print JSON")
    .addHelpText("after", LIST_EXAMPLE)
    .action(listRuns);
  addControlFlags(group.command("stop").description("stop an open run"))
    .argument("<run>", "id of the run")
    .option("--session <id>", "session of the run, if several sessions have a run with this id")
    .option("--json", "print JSON")
    .addHelpText("after", STOP_EXAMPLE)
    .action(stopRun);
}

async function listRuns(flags: ListFlags): Promise<void> {
  const { runs: all, isPartial } = await readRuns(flags, flags.status);
  const runs = all
    .filter(
      (run) =>
        (flags.principal === undefined || run.principal === flags.principal) &&
        (flags.agent === undefined || run.agent === flags.agent) &&
        (flags.session === undefined || run.session_id === flags.session),
    )
    .toSorted((one, other) => other.started_at - one.started_at);
  if (flags.json === true) {
    printJson({ runs, ...(isPartial ? { partial: true } : {}) });
    return;
  }
  if (isPartial) printLine(pc.yellow("A gateway did not respond: its runs may be missing."));
  if (runs.length === 0) {
    printLine("no run matches the options");
    return;
  }
  printLine(runTable(runs));
  if (runs.some(({ status }) => status === "running")) {
    printLine(pc.dim(`Stop a run: ${COMMAND} runs stop RUN`));
  }
}

async function stopRun(id: string, flags: StopFlags): Promise<void> {
  const { runs } = await readRuns(flags, "running");
  const found = runs.filter(
    (run) => run.run_id === id && (flags.session === undefined || run.session_id === flags.session),
  );
  const [run] = found;
  if (run === undefined) {
    throw new CountersignError(
      "ERR_CLI_NO_RUN",
      `no open run has the id ${id}. Fix: run countersign runs list --status running to see the ids`,
      { run: id },
    );
  }
  if (found.length > 1) {
    throw new CountersignError(
      "ERR_CLI_NO_RUN",
      `${found.length} open runs have the id ${id}. Fix: name one of their sessions with --session: ${found.map((one) => one.session_id).join(", ")}`,
      { run: id },
    );
  }
  const path = `/v1/sessions/${encodeURIComponent(run.session_id)}/runs/${encodeURIComponent(id)}/stop`;
  const stopped = await callControl(flags, path, {});
  if (flags.json === true) {
    printJson({ ...stopped, session_id: run.session_id });
    return;
  }
  const who = printableText(run.principal ?? "an anonymous client");
  printLine(
    `${pc.green("stopped")} run ${printableText(id)} of ${who}, session ${printableText(run.session_id)}`,
  );
  printLine(pc.dim(`Its receipt: ${COMMAND} receipts list --rule gateway/operator-stop`));
}
