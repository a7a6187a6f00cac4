import { formatTarget, NO_COUNTERS } from "@countersign/policy";
import type { CapabilityFacts, CapabilityStatus, Decision, TraceStep } from "@countersign/policy";
import { readSubject } from "@countersign/policy/cases";
import type { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { compilePolicyFile } from "./policy-file.js";
import { readJson } from "./read-json.js";

const EXAMPLE = `
The event is an AG-UI event, an envelope or a RunAgentInput as JSON; - reads standard input.
Exit code: 0 allowed, 1 blocked, 2 could not be judged.

Example:
  $ echo '{"type":"STATE_SNAPSHOT","snapshot":{}}' | countersign policy explain --policy policy.yaml --event -
  $ countersign policy explain --policy policy.yaml --event ask.json --scope ui:submit:modal
`;

type Flags = {
  policy: string;
  event: string;
  scope?: string[];
  status: CapabilityStatus;
  transport: "sse" | "websocket";
  inbound?: boolean;
  clientTool?: string[];
  json?: boolean;
};

const collect = (value: string, before: string[] | undefined): string[] => [
  ...(before ?? []),
  value,
];

/** Adds `countersign policy explain`. */
export function registerExplain(group: Command): void {
  group
    .command("explain")
    .description("judge one event and show every rule, what it saw and what it said")
    .option("-p, --policy <file>", "policy file", "policy.yaml")
    .requiredOption("-e, --event <file>", "event as JSON, - for standard input")
    .option("--scope <scope>", "scope of the capability presented; may be repeated", collect)
    .option("--status <status>", "what verification says of the capability", "valid")
    .option("--transport <transport>", "sse or websocket", "sse")
    .option("--inbound", "an envelope that comes from the browser")
    .option("--client-tool <name>", "a tool the client advertised; may be repeated", collect)
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(explain);
}

function explain(flags: Flags): void {
  const policy = compilePolicyFile(flags.policy);
  const { subject, problem } = readSubject(readJson(flags.event), {
    refinements: policy.refinements,
    direction: flags.inbound === true ? "inbound" : "outbound",
    ...(flags.clientTool === undefined ? {} : { clientTools: new Set(flags.clientTool) }),
  });
  if (subject === undefined) throw new TypeError(`${flags.event}: ${problem}`);
  const capability: CapabilityFacts | undefined =
    flags.scope === undefined
      ? undefined
      : { id: "cap-explain", status: flags.status, scopes: flags.scope };
  const { decision, steps } = policy.explain({
    event: subject.facts,
    transport: flags.transport,
    counters: NO_COUNTERS,
    capability,
    variables: { event: subject.value },
  });
  if (!decision.allow) process.exitCode = EXIT.negative;
  if (flags.json === true) {
    printJson({ policy: policy.hash, event: subject.facts, decision, steps });
    return;
  }
  for (const aspect of [subject.facts, ...(subject.facts.also ?? [])]) {
    const name = aspect.customName === undefined ? "" : `(${aspect.customName})`;
    printLine(
      `${pc.bold(`${aspect.eventType}${name}`)} ${aspect.classification} on ${formatTarget(aspect.target)}`,
    );
  }
  printLine("");
  for (const step of steps) printLine(describeStep(step));
  printLine("");
  printLine(describeDecision(decision));
}

const MARKS = {
  passed: pc.green("pass "),
  blocked: pc.red("block"),
  observed: pc.yellow("would"),
  failed: pc.red("fail "),
} as const;

function describeStep({ rule, outcome, reason, saw }: TraceStep): string {
  const seen = Object.entries(saw)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  return `${MARKS[outcome]} ${rule}${reason === undefined ? "" : `: ${reason}`}\n      ${pc.dim(seen)}`;
}

function describeDecision(decision: Decision): string {
  if (!decision.allow) {
    return `${pc.red("blocked")} by ${decision.rule}: ${decision.reason} (${decision.reasonCode}, on_block ${decision.onBlock})`;
  }
  return decision.observed === undefined
    ? pc.green("allowed")
    : `${pc.yellow("allowed, observed")} ${decision.observed.rule}: ${decision.observed.reason}`;
}
