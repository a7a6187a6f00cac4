import type { ReplayReport } from "@countersign/policy/cases";
import type { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { reevaluate, wholeNumber } from "./reevaluate.js";
import { compilePolicyFile } from "./policy-file.js";
import { printPartial, printSamples } from "./replay-report.js";

const EXAMPLE = `
A capture holds what was delivered, so everything a policy blocks is newly blocked; --against compares
with another policy instead. What a rule says about the state names the path. A receipt store holds no
payloads: class, type and target are judged again, paths, tools, texts and conditions are not. Rates and
caps are left out.
Exit code: 0 nothing changes, 1 something does, 2 the recording cannot be read.

Example:
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
    .description("judge a recording again and show what a policy would change")
    .option("-p, --policy <file>", "the policy to try", "policy.yaml")
    .requiredOption(
      "-f, --from <source>",
      "capture (JSON lines), directory or address of a receipt store",
    )
    .option("--log <name>", "which log of a PostgreSQL store (receipts.origin of the gateway)")
    .option("--against <file>", "policy to compare with")
    .option(
      "--scope <scope>",
      "scope the session's capability had; may be repeated",
      (value: string, before: string[] | undefined) => [...(before ?? []), value],
    )
    .option("--samples <count>", "samples per kind of change", "5")
    .option("--limit <count>", "at most so many events, the newest of a store", "100000")
    .option("--json", "for machines")
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
  printLine(
    `${report.judged} events judged again${unused === 0 ? "" : `, ${unused} lines not used`}`,
  );
  printLine(`  ${pc.red("newly blocked")}  ${report.newlyBlocked}`);
  printLine(`  ${pc.yellow("newly allowed")}  ${report.newlyAllowed}`);
  printLine(`  other reason   ${report.otherReason}`);
  printLine(`  unchanged      ${report.unchanged}`);
  printPartial(report.partial);
  printSamples(report.samples);
}
