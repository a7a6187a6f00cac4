import { readPolicy } from "@countersign/policy";
import type { CompiledPolicy } from "@countersign/policy";
import { comparePolicies } from "@countersign/policy/compare";
import type { Effect } from "@countersign/policy/compare";
import type { Command } from "commander";
import { Option } from "commander";
import { EXIT } from "../../output/failure.js";
import { printJson } from "../../output/print.js";
import { CONFIG_FILE } from "../configuration.js";
import { controlAddress, readRunningPolicy, TOKEN_VARIABLE } from "../control/control-plane.js";
import { printDiff } from "./diff-report.js";
import type { PolicyVersion } from "./diff-report.js";
import { reevaluate, wholeNumber } from "./reevaluate.js";
import { compileLoaded, compilePolicyFile } from "./policy-file.js";

const EXAMPLE = `
Each policy is a file, or the address of a control plane (http://127.0.0.1:8081) for the policy of a running gateway.
With one policy, the command compares the gateway of countersign.yaml with it. It reads the admin token from
${TOKEN_VARIABLE} or --token-file.

The command compares meaning, not text: it fills in defaults, and ignores an entry that another pattern covers.
A change that it cannot evaluate, such as another expression or another schema, counts as both.

Exit code: 0 compared, 1 --fail-on applies, 2 a policy or recording cannot be read.

Examples:
  $ countersign policy diff policy.yaml next.yaml
  $ countersign policy diff policy.yaml next.yaml --against .countersign/receipts
  $ countersign policy diff next.yaml --fail-on looser   # against the running gateway
`;

/** The values of `--fail-on`, and the verdicts that each includes. */
const FAILS: Readonly<Record<string, readonly Effect[]>> = {
  looser: ["looser", "both"],
  stricter: ["stricter", "both"],
  change: ["looser", "stricter", "both"],
};

type Flags = {
  config: string;
  tokenFile?: string;
  against?: string;
  log?: string;
  scope?: string[];
  samples: string;
  limit: string;
  failOn?: string;
  json?: boolean;
};

/** Adds `countersign policy diff`. */
export function registerDiff(group: Command): void {
  group
    .command("diff")
    .description("compare two policies: is the second looser, stricter or both")
    .argument(
      "<before>",
      "file or address of a control plane; alone: compare the running gateway with this file",
    )
    .argument("[after]", "file or address of a control plane")
    .option("--against <source>", "recording or receipt store to evaluate with both policies")
    .option("--log <name>", "log of a PostgreSQL store: receipts.origin of the gateway")
    .option(
      "--scope <scope>",
      "scope of the session's capability, for recordings (repeatable)",
      (value: string, before: string[] | undefined) => [...(before ?? []), value],
    )
    .option("--samples <count>", "samples for each kind of change", "5")
    .option("--limit <count>", "maximum number of events; of a store, the newest", "100000")
    .addOption(
      new Option(
        "--fail-on <verdict>",
        "exit with 1 if the second policy is looser, stricter or different",
      ).choices(Object.keys(FAILS)),
    )
    .option(
      "-c, --config <file>",
      "configuration with the address of the control plane",
      CONFIG_FILE,
    )
    .option("--token-file <file>", `file with the admin token, instead of ${TOKEN_VARIABLE}`)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(diff);
}

async function diff(one: string, other: string | undefined, flags: Flags): Promise<void> {
  const [from, to] = other === undefined ? [controlAddress(flags.config), one] : [one, other];
  const before = await openPolicy(from, flags);
  const after = await openPolicy(to, flags);
  const found = comparePolicies(before.document, after.document);
  const recorded =
    flags.against === undefined
      ? undefined
      : await reevaluate(after, {
          source: flags.against,
          limit: wholeNumber(flags.limit),
          log: flags.log,
          baseline: before,
          scopes: flags.scope,
          samples: wholeNumber(flags.samples),
        });
  if (flags.failOn !== undefined && FAILS[flags.failOn]?.includes(found.verdict) === true) {
    process.exitCode = EXIT.negative;
  }
  const [left, right] = [factsOf(from, before), factsOf(to, after)];
  if (flags.json !== true) {
    printDiff(left, right, found, recorded);
    return;
  }
  printJson({
    before: left,
    after: right,
    ...found,
    ...(recorded === undefined
      ? {}
      : { recorded: { ...recorded, byRule: Object.fromEntries(recorded.byRule) } }),
  });
}

function factsOf(source: string, { hash, mode }: CompiledPolicy): PolicyVersion {
  return { source, hash, mode };
}

async function openPolicy(source: string, flags: Flags): Promise<CompiledPolicy> {
  if (!/^https?:\/\//u.test(source)) return compilePolicyFile(source);
  // It was resolved there; what extends nothing is read as any other text.
  const document = await readRunningPolicy(source, flags.tokenFile);
  return compileLoaded(source, readPolicy(JSON.stringify(document), { file: source }));
}
