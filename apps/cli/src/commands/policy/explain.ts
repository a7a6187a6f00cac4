import { isJsonObject, printableText } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { explainRequest } from "@countersign/gateway";
import type { RequestStep } from "@countersign/gateway";
import { formatTarget, NO_COUNTERS, openAct } from "@countersign/policy";
import type {
  CapabilityFacts,
  CapabilityStatus,
  Decision,
  Opening,
  PolicyDocument,
  TraceStep,
} from "@countersign/policy";
import { FileThread } from "@countersign/policy/cases";
import type { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { addLocationFlags } from "../receipts/location.js";
import type { LocationFlags } from "../receipts/location.js";
import {
  DEFAULT_POLICY,
  explainErrorCode,
  explainNamed,
  listRules,
  printOpenings,
} from "./explain-name.js";
import type { ProblemDetails } from "./explain-name.js";
import { compilePolicyFile } from "./policy-file.js";
import { readJson } from "./read-json.js";

const EXAMPLE = `
The command explains any name that the product prints: a rule, an error code, an action (tool:NAME, custom:NAME, raw:SOURCE,
activity:TYPE, interrupt:REASON, state:/PATH, forwardedProps:KEY), a class, a component, a sentence or a log line, a key of the
policy or of countersign.yaml, a repair, a metric, or a receipt (its id or its number in the log). The output has the policy
lines that allow it. The command tries these lines on policy.yaml, or on the starter policy if there is no policy.yaml.
--event takes an AG-UI event, an envelope, a RunAgentInput or the problem document of a rejected request. The command evaluates a
request as the first one of its thread, and says which checks depend on the thread.

Exit code: 0 explained or allowed, 1 blocked, 2 the event cannot be evaluated.

Examples:
  $ countersign policy explain gateway/withheld
  $ countersign policy explain ERR_HISTORY_DROPPED
  $ countersign policy explain tool:delete_user
  $ countersign policy explain "capability required for Submit events"
  $ countersign policy explain agui-evt_01JD0Z0000000000000000000
  $ curl -s -d @request.json http://127.0.0.1:8080/agents/main | countersign policy explain --event -
  $ echo '{"type":"STATE_SNAPSHOT","snapshot":{"cart":[]}}' | countersign policy explain --policy policy.yaml --event -
  $ countersign policy explain --policy policy.yaml --event ask.json --scope ui:submit:modal
`;

type Flags = LocationFlags & {
  policy: string;
  event?: string;
  rules?: boolean;
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
  const command = group
    .command("explain")
    .description(
      "explain a rule, an error code or a receipt, or evaluate one event and show every rule",
    )
    .argument(
      "[what]",
      "rule, error code, receipt (id or number) or any other name that the product prints",
    )
    .option("-p, --policy <file>", "policy file", DEFAULT_POLICY)
    .option("-e, --event <file>", "event to evaluate, as JSON; - reads standard input")
    .option("--rules", "list every rule that a receipt can name")
    .option("--scope <scope>", "scope of the capability (repeatable)", collect)
    .option("--status <status>", "verification status of the capability", "valid")
    .option("--transport <transport>", "transport of the event: sse or websocket", "sse")
    .option("--inbound", "evaluate an envelope from a client")
    .option("--client-tool <name>", "tool that the client declares (repeatable)", collect);
  addLocationFlags(command)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(explain);
}

async function explain(what: string | undefined, flags: Flags): Promise<void> {
  const json = flags.json === true;
  if (flags.rules === true) listRules(json);
  else if (what !== undefined) await explainNamed(what, flags, json);
  else if (flags.event !== undefined) explainEvent(flags.event, flags);
  else
    throw new TypeError(
      "nothing to explain. Fix: name a rule, an error code or a receipt, or give an event with --event",
    );
}

function explainEvent(file: string, flags: Flags): void {
  const value = readJson(file);
  const refusal = readProblem(value);
  if (refusal !== undefined) {
    explainErrorCode(refusal.code, flags.json === true, refusal);
    return;
  }
  const policy = compilePolicyFile(flags.policy);
  const { subject, problem } = new FileThread(policy).read(value, {
    direction: flags.inbound === true ? "inbound" : "outbound",
    ...(flags.clientTool === undefined ? {} : { clientTools: new Set(flags.clientTool) }),
  });
  if (subject === undefined) throw new TypeError(`${file}: ${problem}`);
  const capability: CapabilityFacts | undefined =
    flags.scope === undefined
      ? undefined
      : { id: "cap-explain", status: flags.status, scopes: flags.scope };
  const { decision, steps } = policy.explain({
    event: subject.facts,
    surface: subject.surface,
    requests: subject.requests,
    transport: flags.transport,
    counters: NO_COUNTERS,
    capability,
    variables: { event: subject.value },
  });
  const isRequest = subject.facts.source === "RUN_AGENT_INPUT";
  const request = isRequest ? explainRequest(value, policy) : [];
  const refused = request.find(({ outcome }) => outcome === "blocked");
  if (!decision.allow || refused !== undefined) process.exitCode = EXIT.negative;
  // A token is another way to open it; who tries one does not ask for lines.
  const isLinesAsked = capability === undefined && flags.inbound !== true;
  const opening = isLinesAsked ? openEvent(policy.document, subject.value, flags) : undefined;
  if (flags.json === true) {
    const found = {
      ...(isRequest ? { request } : {}),
      ...(opening === undefined ? {} : { opening }),
    };
    printJson({ policy: policy.hash, event: subject.facts, decision, steps, ...found });
    return;
  }
  for (const aspect of [subject.facts, ...(subject.facts.also ?? [])]) {
    const name = aspect.customName === undefined ? "" : `(${aspect.customName})`;
    printLine(
      `${pc.bold(`${aspect.eventType}${name}`)} ${aspect.classification} on ${formatTarget(aspect.target)}`,
    );
  }
  printLine("");
  for (const step of request) printLine(describeRequestStep(step));
  for (const step of steps) printLine(describeStep(step));
  printLine("");
  if (refused !== undefined) printLine(`${pc.red("refused")} by ${refused.rule}: ${refused.code}`);
  else printLine(describeDecision(decision));
  if (opening !== undefined) printOpenings([{ opening }]);
}

/** The lines that allow an event for every user; none where the policy allows it already. */
function openEvent(
  document: PolicyDocument,
  value: JsonObject,
  { clientTool }: Flags,
): Opening | undefined {
  const clientTools = clientTool === undefined ? {} : { clientTools: new Set(clientTool) };
  return openAct(document, { about: "", value, ...clientTools }).opening;
}

/** A problem document of a gateway, which says more than the request it is about. */
function readProblem(value: JsonValue): (ProblemDetails & { code: string }) | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, code, pointer, remedy, detail } = value;
  if (typeof code !== "string" || type !== `urn:countersign:problem:${code}`) return undefined;
  return {
    code,
    ...(typeof pointer === "string" ? { pointer: printableText(pointer) } : {}),
    ...(typeof remedy === "string" ? { remedy: printableText(remedy) } : {}),
    ...(typeof detail === "string" ? { detail: printableText(detail) } : {}),
  };
}

const MARKS = {
  passed: pc.green("pass "),
  blocked: pc.red("block"),
  observed: pc.yellow("would"),
  failed: pc.red("fail "),
  thread: pc.dim("later"),
} as const;

function describeRequestStep({ rule, outcome, reason, pointer, remedy }: RequestStep): string {
  const where = pointer === undefined ? "" : `, at ${pointer}`;
  const told = outcome === "thread" ? "held against its thread when it is sent" : reason;
  const first = `${MARKS[outcome]} ${rule}${told === undefined ? "" : `: ${told}${where}`}`;
  return remedy === undefined ? first : `${first}\n      ${remedy}`;
}

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
