import type { ReplayReport } from "@countersign/policy/cases";
import type { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { reevaluate, wholeNumber } from "./reevaluate.js";
import { compilePolicyFile } from "./policy-file.js";
import { printPartial, printSamples } from "./replay-report.js";

const EXAMPLE = `
A recording of countersign capture holds events that the client received, so each block counts as newly blocked;
--against compares with another policy instead. A receipt store holds no payloads: the command evaluates
classification, event type and target again, but no paths, tools, texts and conditions. It skips rates and caps.

Exit code: 0 no decision changes, 1 a decision changes, 2 the recording cannot be read.

Examples:
  $ countersign policy replay --policy next.yaml --from session.agui.jsonl --against policy.yaml
  $ countersign policy replay --policy next.yaml --from .countersign/receipts
`;

type Flags = {
  policy: string;
  from: string;
  against?: string;
  scope?: string[];
  samples: string;
  limit: string;
  log?: string;
  json?: boolean;
};

/** Adds `countersign policy replay`. */
export function registerReplay(group: Command): void {
  group
    .command("replay")
    .description("evaluate a recording again and show what a policy would change")
    .option("-p, --policy <file>", "policy to evaluate", "policy.yaml")
    .requiredOption(
      "-f, --from <source>",
      "recording (JSON lines), or directory or address of a receipt store",
    )
    .option("--log <name>", "log of a PostgreSQL store: receipts.origin of the gateway")
    .option("--against <file>", "policy to compare with")
    .option(
      "--scope <scope>",
      "scope of the session's capability (repeatable)",
      (value: string, before: string[] | undefined) => [...(before ?? []), value],
    )
    .option("--samples <count>", "samples for each kind of change", "5")
    .option("--limit <count>", "maximum number of events; of a store, the newest", "100000")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(replay);
}

async function replay(flags: Flags): Promise<void> {
  const policy = compilePolicyFile(flags.policy);
  const baseline = flags.against === undefined ? undefined : compilePolicyFile(flags.against);
  const { unused, ...report } = await reevaluate(policy, {
    source: flags.from,
    limit: wholeNumber(flags.limit),
    log: flags.log,
    baseline,
    scopes: flags.scope,
    samples: wholeNumber(flags.samples),
  });
  if (report.unchanged !== report.judged) process.exitCode = EXIT.negative;
  if (flags.json === true) {
    printJson({ ...report, byRule: Object.fromEntries(report.byRule), skipped: unused });
    return;
  }
  printReport(report, unused);
}

function printReport(report: ReplayReport, unused: number): void {
  printLine(`${report.judged} events evaluated${unused === 0 ? "" : `, ${unused} lines skipped`}`);
  printLine(`  ${pc.red("newly blocked")}  ${report.newlyBlocked}`);
  printLine(`  ${pc.yellow("newly allowed")}  ${report.newlyAllowed}`);
  printLine(`  other reason   ${report.otherReason}`);
  printLine(`  unchanged      ${report.unchanged}`);
  printPartial(report.partial);
  printSamples(report.samples);
}
