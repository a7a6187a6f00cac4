import { createReadStream, statSync, writeFileSync } from "node:fs";
import type { JsonValue } from "@countersign/core";
import {
  defaultInput,
  examine,
  examineRecording,
  failing,
  isRuleId,
  toHtml,
  toJunit,
  toSarif,
} from "@countersign/inspect";
import type {
  DoctorOptions,
  DoctorReport,
  RuleId,
  Severity,
  SeverityOverride,
} from "@countersign/inspect";
import { EMITTER_PROFILES } from "@countersign/wire/dialects";
import type { EmitterProfile } from "@countersign/wire/dialects";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { pathExists, requireFolder } from "../../files/path-exists.js";
import { EXIT } from "../../output/failure.js";
import { pageReference } from "../../output/pages.js";
import { printJson, printLine } from "../../output/print.js";
import { formatReport } from "./print-report.js";
import { collectHeader } from "../capture/arguments.js";
import { readJson } from "../policy/read-json.js";

const EXAMPLE = `
The target is an address (http, https, ws, wss), a recording (.agui.jsonl, events as JSON lines, or the
body of an SSE response) or - for standard input. The doctor starts one run at an address.

Exit code: 0 no finding, 1 findings at or above --fail-on, 2 the check failed.

Examples:
  $ countersign doctor http://127.0.0.1:8000/agent
  $ countersign doctor wss://agent.example/ws --header "Authorization: Bearer $TOKEN" --subprotocol
  $ countersign doctor session.agui.jsonl --html report.html
  $ curl -sN … | countersign doctor - --fail-on error --severity event/unknown-field=off
`;

type Flags = {
  header?: Record<string, string>;
  input?: string;
  message?: string;
  timeout: number;
  failOn: Severity | "never";
  severity?: Map<RuleId, SeverityOverride>;
  profile: EmitterProfile;
  get?: boolean;
  proto?: boolean;
  origin?: string;
  subprotocol?: boolean;
  insecure?: boolean;
  json?: boolean;
  sarif?: string | true;
  junit?: string | true;
  html?: string;
};

/** Adds `countersign doctor`. */
export function registerDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check an AG-UI endpoint or a recording: network, transport, events")
    .argument("<target>", "address or file; - reads standard input")
    .option("-H, --header <line>", 'header to send, "Name: value" (repeatable)', collectHeader)
    .option("--input <file>", "JSON file with the RunAgentInput to send")
    .option("--message <text>", "user message to send")
    .option("--timeout <seconds>", "time limit of the check", readSeconds, 60)
    .option("--fail-on <severity>", "error, warning, note or never", readThreshold, "warning")
    .option(
      "--severity <rule=severity>",
      "error, warning, note or off for one rule (repeatable)",
      collectSeverity,
    )
    .option(
      "--profile <name>",
      "framework whose deviations a gateway repairs; strict reports them all as errors",
      readProfile,
      "auto",
    )
    .option("--get", "send GET, as EventSource does")
    .option("--proto", "request protobuf")
    .option("--origin <origin>", "check CORS for a page of this origin")
    .option(
      "--subprotocol",
      "send the bearer token in the WebSocket sub-protocol, as browsers must",
    )
    .option("--insecure", "accept a certificate that is not trusted")
    .option("--json", "print JSON")
    .option("--sarif [file]", "write SARIF 2.1.0 to a file or to standard output")
    .option("--junit [file]", "write JUnit XML to a file or to standard output")
    .option("--html <file>", "write one HTML page with a timeline")
    .addHelpText("after", EXAMPLE)
    .action(doctor);
}

async function doctor(target: string, flags: Flags): Promise<void> {
  for (const format of ["html", "sarif", "junit"] as const) {
    requireFolder(`--${format}`, flags[format]);
  }
  const report = await examineTarget(target, flags);
  const failed = failing(report, flags.failOn);
  if (failed.length > 0) process.exitCode = EXIT.negative;
  if (flags.html !== undefined) writeFileSync(flags.html, toHtml(report));
  const printed = [
    emit(flags.sarif, () => toSarif(report)),
    emit(flags.junit, () => toJunit(report, failed)),
  ].includes(true);
  if (printed) return;
  if (flags.json === true) printJson({ ok: failed.length === 0, ...report });
  else {
    printLine(formatReport(report));
    if (flags.html !== undefined) printLine(`\nThe report with the timeline is in ${flags.html}`);
  }
}

/** Writes a format to its file; `true` when it went to standard output instead. */
function emit(place: string | true | undefined, write: () => string): boolean {
  if (place === undefined) return false;
  if (place === true) process.stdout.write(write());
  else writeFileSync(place, write());
  return place === true;
}

function examineTarget(target: string, flags: Flags): Promise<DoctorReport> {
  const judged = { severities: flags.severity ?? new Map(), profile: flags.profile };
  if (target === "-") return examineRecording("standard input", process.stdin, judged);
  if (!/^(?:https?|wss?):\/\//i.test(target)) {
    if (/^(?:localhost|[\w.-]+:\d+)(?:[/:?]|$)/i.test(target) && !pathExists(target)) {
      throw new TypeError(
        `the file ${target} does not exist. Fix: correct the path, or write an address with its scheme, such as http://${target}`,
      );
    }
    // A directory opens and fails only when it is read; say it before anything is printed.
    if (!statSync(target).isFile()) throw new TypeError(`${target} is not a file`);
    return examineRecording(target, createReadStream(target), judged);
  }
  const options: DoctorOptions = {
    headers: flags.header ?? {},
    input: readInput(flags),
    timeoutMs: flags.timeout * 1000,
    ...judged,
    get: flags.get === true,
    proto: flags.proto === true,
    subprotocol: flags.subprotocol === true,
    insecure: flags.insecure === true,
    ...(flags.origin === undefined ? {} : { origin: flags.origin }),
  };
  return examine(target, options);
}

function readInput({ input, message }: Flags): JsonValue {
  if (input !== undefined) return readJson(input);
  return defaultInput(message);
}

function collectSeverity(
  text: string,
  before: Map<RuleId, SeverityOverride> = new Map(),
): Map<RuleId, SeverityOverride> {
  const [rule = "", severity = ""] = text.split("=");
  if (!isRuleId(rule))
    throw new InvalidArgumentError(
      `No rule has the name ${rule}. See ${pageReference("rules/README.md")}`,
    );
  if (severity !== "off" && !isSeverity(severity))
    throw new InvalidArgumentError("Write RULE=error, RULE=warning, RULE=note or RULE=off.");
  return new Map([...before, [rule, severity]]);
}

function readThreshold(text: string): Severity | "never" {
  if (text === "never" || isSeverity(text)) return text;
  throw new InvalidArgumentError("Write error, warning, note or never.");
}

function readProfile(text: string): EmitterProfile {
  const profile = EMITTER_PROFILES.find((name) => name === text);
  if (profile === undefined)
    throw new InvalidArgumentError(`Write one of ${EMITTER_PROFILES.join(", ")}.`);
  return profile;
}

function isSeverity(text: string): text is Severity {
  return text === "error" || text === "warning" || text === "note";
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new InvalidArgumentError("Write a number of seconds above 0.");
  return seconds;
}
