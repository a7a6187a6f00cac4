import { readPolicy } from "@countersign/policy";
import type { CompiledPolicy } from "@countersign/policy";
import { comparePolicies } from "@countersign/policy/compare";
import type { Effect } from "@countersign/policy/compare";
import type { Command } from "commander";
import { Option } from "commander";
import { EXIT } from "../../output/failure.js";
import { printJson } from "../../output/print.js";
import { CONFIG_FILE, readConfiguration } from "../configuration.js";
import { readRunningPolicy, TOKEN_VARIABLE } from "./control-policy.js";
import { printDiff } from "./diff-report.js";
import type { PolicyVersion } from "./diff-report.js";
import { reevaluate, wholeNumber } from "./reevaluate.js";
import { compileLoaded, compilePolicyFile } from "./policy-file.js";

const EXAMPLE = `
Each policy is a file, or the address of a control plane (http://127.0.0.1:8081) for the policy that decides
there. With one policy, it is compared with what decides at the gateway of countersign.yaml. The admin token is
taken from ${TOKEN_VARIABLE} or --token-file.

What changes in meaning is told, not in text: defaults are filled in, and what a pattern covers already is no
change. What nobody can decide (another expression, another schema) counts as both.
Exit code: 0, or 1 when --fail-on is met; 2 when a policy or recording cannot be read.

Example:
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
    .description("say what changes in meaning between two policies: looser, stricter or both")
    .argument("<before>", "file or control plane; alone, it is what the running gateway would get")
    .argument("[after]", "file or control plane")
    .option("--against <source>", "capture or receipt store to judge again under both")
    .option("--log <name>", "which log of a PostgreSQL store (receipts.origin of the gateway)")
    .option(
      "--scope <scope>",
      "scope the session's capability had, for captures; may be repeated",
      (value: string, before: string[] | undefined) => [...(before ?? []), value],
    )
    .option("--samples <count>", "samples per kind of change", "5")
    .option("--limit <count>", "at most so many events, the newest of a store", "100000")
    .addOption(
      new Option("--fail-on <verdict>", "exit with 1 when the whole becomes so").choices(
        Object.keys(FAILS),
      ),
    )
    .option("-c, --config <file>", "configuration that names the control plane", CONFIG_FILE)
    .option("--token-file <file>", `admin token of the control plane, instead of ${TOKEN_VARIABLE}`)
    .option("--json", "for machines")
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

/** The control address of a configuration; for a gateway on all interfaces, this machine's. */
function controlAddress(config: string): string {
  const { host, port } = readConfiguration(config)?.control ?? { host: "127.0.0.1", port: 8081 };
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
