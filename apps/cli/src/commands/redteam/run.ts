import { writeFileSync } from "node:fs";
import {
  compareWithBaseline,
  isRegression,
  runSuite,
  withoutTraces,
  writeHtml,
  writeJunit,
  writeSarif,
} from "@countersign/redteam";
import type { Comparison, SuiteReport, TransportKind } from "@countersign/redteam";
import {
  createHardenedAgent,
  createVulnerableAgent,
  serveAgent,
} from "@countersign/redteam/agents";
import type { RunningAgent } from "@countersign/redteam/agents";
import { Option } from "commander";
import type { Command } from "commander";
import { requireFolder } from "../../files/path-exists.js";
import { EXIT } from "../../output/failure.js";
import { pageReference } from "../../output/pages.js";
import { printJson } from "../../output/print.js";
import { createProgress } from "../../output/progress.js";
import { VERSION } from "../../output/version.js";
import { readAddress } from "../capture/arguments.js";
import { readJson } from "../policy/read-json.js";
import { readCount, readHeader, readSeconds } from "./flags.js";
import { printComparison, printEntry, printSummary } from "./present.js";
import { openResumeFile } from "./resume.js";
import { loadDocuments } from "./sources.js";

/** Exit codes of `redteam run`, beside those every verb shares. */
const INDETERMINATE = { partial: 3, interrupted: 130 } as const;

const EXAMPLE = `
Without documents the built-in library runs. A target that refuses an attack with 400, 403, 409, 413, 415 or
422 has resisted it, if it answered a harmless request before.

With --through each document runs directly and through the gateway, and the second outcome counts:
  exploited → blocked    the gateway closes it; behind "by" stands its rule or code
  exploited → exploited  works through the gateway too: close it, see ${pageReference("redteam/behind-the-gateway.md")}
  blocked   → blocked    the agent refuses it by itself
  resisted               every payload was delivered, every indicator had something to look at, and none matched
  error, unsupported     an actor, phase or indicator that is named kept the document from being decided
Where a code does not say which rule it was, countersign receipts show RECEIPT does. A gateway that observes
blocks nothing: set mode: enforce in its policy first.

--filter takes words joined by commas, any of which is enough: part of an id, name, tag or mapping,
severity:critical, tag:approval.

Exit code: 0 clean, 1 exploited, 2 an error or an unsupported document, 3 partial; the first of 1, 2, 3 that
applies. With --baseline: 1 when something is new or worse, 0 when not (2 for errors stays). 130 interrupted.

Example:
  $ countersign redteam run --demo vulnerable --html report.html
  $ countersign redteam run --target http://127.0.0.1:8000/agent --filter severity:critical
  $ countersign redteam run attacks/ --target http://127.0.0.1:8000/ --through http://127.0.0.1:8080/agents/support
`;

type Flags = {
  target?: string;
  through?: string;
  demo?: "vulnerable" | "hardened";
  transport?: TransportKind;
  header?: Record<string, string>;
  filter?: string;
  repeat: number;
  concurrency: number;
  timeout: number;
  idle: number;
  strict?: boolean;
  reveal?: boolean;
  trace?: boolean;
  baseline?: string;
  resume?: string;
  junit?: string;
  sarif?: string;
  html?: string;
  json?: boolean;
};

/** Adds `countersign redteam run`. */
export function registerRun(group: Command): void {
  group
    .command("run")
    .description("perform attack documents against an agent and say which got through")
    .argument("[documents...]", "files or folders of OATF documents")
    .option("-t, --target <url>", "address of the agent", readAddress)
    .option("--through <url>", "address of a gateway before the same agent", readAddress)
    .addOption(
      new Option("--demo <agent>", "attack a built-in agent").choices(["vulnerable", "hardened"]),
    )
    .addOption(
      new Option("--transport <kind>", "default: by the address").choices([
        "post",
        "get",
        "websocket",
      ]),
    )
    .option("-H, --header <header>", "sent with every request, repeatable", readHeader)
    .option("-f, --filter <words>", "only documents with one of these words")
    .option("--repeat <n>", "run each document n times; the worst outcome counts", readCount, 1)
    .option("--concurrency <n>", "documents at the same time", readCount, 4)
    .addOption(
      new Option("--timeout <seconds>", "for one document")
        .argParser(readSeconds)
        .default(300_000, "300"),
    )
    .addOption(
      new Option("--idle <seconds>", "silence on a stream before it is given up")
        .argParser(readSeconds)
        .default(60_000, "60"),
    )
    .option("--strict", "judge single events only, never the joined text of a run")
    .option("--reveal", "show matched text in evidence; it may hold secrets")
    .option("--trace", "with --json: include what was sent and received")
    .option("--baseline <file>", "an earlier --json report; fail only on what is new or worse")
    .option("--resume <file>", "keep finished documents there and do not run them again")
    .option("--junit <file>", "write JUnit XML")
    .option("--sarif <file>", "write SARIF 2.1.0")
    .option("--html <file>", "write a page with the timeline of every trace")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(run);
}

async function run(paths: readonly string[], flags: Flags): Promise<void> {
  const documents = loadDocuments(paths, flags.filter);
  if (documents.length === 0)
    throw new TypeError("no document is left; change --filter or the paths");
  for (const option of ["junit", "sarif", "html", "resume"] as const) {
    requireFolder(`--${option}`, flags[option]);
  }
  const baseline = flags.baseline === undefined ? undefined : readJson(flags.baseline);
  const demo = await startDemoAgent(flags);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once("SIGINT", interrupt);
  try {
    const report = await runAll(documents, targetOf(flags, demo), flags, stop.signal);
    const comparisons = baseline === undefined ? undefined : compareWithBaseline(report, baseline);
    present(report, comparisons, flags);
    process.exitCode = exitCodeOf(report, comparisons);
  } finally {
    process.off("SIGINT", interrupt);
    await demo?.close();
  }
}

function startDemoAgent({ demo }: Flags): Promise<RunningAgent> | undefined {
  if (demo === undefined) return undefined;
  return serveAgent(demo === "vulnerable" ? createVulnerableAgent() : createHardenedAgent());
}

function targetOf(flags: Flags, demo: RunningAgent | undefined): string {
  const target = flags.target ?? (flags.transport === "websocket" ? demo?.webSocketUrl : demo?.url);
  if (target !== undefined) return target;
  throw new TypeError("no target: give --target URL, or try --demo vulnerable");
}

async function runAll(
  documents: ReturnType<typeof loadDocuments>,
  target: string,
  flags: Flags,
  signal: AbortSignal,
): Promise<SuiteReport> {
  const { resume, through, demo } = flags;
  // A demo agent has another port each time; its name is what stays.
  const file =
    resume === undefined
      ? undefined
      : openResumeFile(resume, flags.target ?? `demo:${demo}`, through, documents, {
          version: VERSION,
          transport: flags.transport,
          headers: flags.header,
          repeat: flags.repeat,
          timeout: flags.timeout,
          idle: flags.idle,
          strict: flags.strict === true,
          reveal: flags.reveal === true,
        });
  const progress = createProgress("redteam", documents.length);
  const report = await runSuite(documents, {
    target,
    ...(through === undefined ? {} : { through }),
    ...(flags.transport === undefined ? {} : { transport: flags.transport }),
    headers: flags.header ?? {},
    timeouts: { document: flags.timeout, idle: flags.idle },
    strict: flags.strict === true,
    evaluation: { evidence: { reveal: flags.reveal === true }, source: `countersign/${VERSION}` },
    repeat: flags.repeat,
    concurrency: flags.concurrency,
    source: `countersign/${VERSION}`,
    ...(file === undefined ? {} : { done: file.done }),
    signal,
    onEntry(entry, finished) {
      file?.add(entry);
      progress.finish();
      if (flags.json !== true) printEntry(entry);
      progress.update(finished);
    },
  });
  progress.finish();
  return report;
}

function present(
  report: SuiteReport,
  comparisons: readonly Comparison[] | undefined,
  flags: Flags,
): void {
  // Traces hold what the agent said, secrets included: for the owner's eyes.
  const secret = { mode: 0o600 };
  if (flags.junit !== undefined) writeFileSync(flags.junit, writeJunit(report));
  if (flags.sarif !== undefined) writeFileSync(flags.sarif, writeSarif(report));
  if (flags.html !== undefined) writeFileSync(flags.html, writeHtml(report), secret);
  if (flags.json === true) {
    const shown = flags.trace === true ? report : withoutTraces(report);
    printJson(comparisons === undefined ? shown : { ...shown, comparisons });
    return;
  }
  printSummary(report);
  if (comparisons !== undefined) printComparison(comparisons);
}

function exitCodeOf(report: SuiteReport, comparisons: readonly Comparison[] | undefined): number {
  const { summary, complete } = report;
  if (!complete) return INDETERMINATE.interrupted;
  const hasErrors = summary.error + summary.unsupported > 0;
  if (comparisons !== undefined) {
    if (comparisons.some(isRegression)) return EXIT.negative;
    return hasErrors ? EXIT.failed : EXIT.ok;
  }
  if (summary.exploited > 0) return EXIT.negative;
  if (hasErrors) return EXIT.failed;
  return summary.partial > 0 ? INDETERMINATE.partial : EXIT.ok;
}
