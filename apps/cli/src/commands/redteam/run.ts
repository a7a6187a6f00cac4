import { writeFileSync } from "node:fs";
import {
  compareWithBaseline,
  isRegression,
  runSuite,
  withoutTraces,
  writeHtml,
  writeJunit,
  writeMarkdown,
  writeSarif,
} from "@countersign/redteam";
import type { Comparison, SuiteOptions, SuiteReport, TransportKind } from "@countersign/redteam";
import {
  createAddressBook,
  createHardenedAgent,
  createVulnerableAgent,
  serveAgent,
} from "@countersign/redteam/agents";
import type { AddressBook, RunningAgent } from "@countersign/redteam/agents";
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
import { addServerFlags, serverOptions } from "./servers.js";
import type { ServerFlags } from "./servers.js";
import { loadDocuments } from "./sources.js";

/** Exit codes of `redteam run`, beside those every verb shares. */
const INDETERMINATE = { partial: 3, interrupted: 130 } as const;

const EXAMPLE = `
A target resists an attack if it rejects the request with 400, 403, 409, 413, 415 or 422 after it answered a harmless
request.

With --through each document runs directly and through the gateway, and the second outcome counts:
  exploited → blocked    the gateway blocks the attack; "by" names the rule or code
  exploited → exploited  the attack also works through the gateway; how to close it: ${pageReference("redteam/behind-the-gateway.md")}
  blocked   → blocked    the agent rejects the attack itself
  resisted               every payload was delivered, every indicator could be evaluated, and none matched
  error, unsupported     the named actor, phase or indicator could not be evaluated
countersign receipts show RECEIPT names the rule behind a code. A gateway in observe mode blocks nothing: set
mode: enforce in its policy first.

--filter takes words separated by commas. A document matches if one word is part of its id, name, tag or mapping, or equals
its severity or tag: severity:critical, tag:approval. A word with a minus leaves documents out: -tag:mcp-server.

Exit code: 0 no attack succeeded, 1 exploited, 2 an error or an unsupported document, 3 partial, 130 interrupted; the first of
1, 2, 3 that applies. With --baseline: 1 a result is new or worse, 0 none is; errors stay 2.

Examples:
  $ countersign redteam run --demo vulnerable --html report.html
  $ countersign redteam run --target http://127.0.0.1:8000/agent --filter severity:critical
  $ countersign redteam run attacks/ --target http://127.0.0.1:8000/ --through http://127.0.0.1:8080/agents/support
`;

type Flags = ServerFlags & {
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
  markdown?: string;
  console?: string;
  json?: boolean;
};

/** Adds `countersign redteam run`. */
export function registerRun(group: Command): void {
  const command = group
    .command("run")
    .description("run attack documents against an agent and report which succeed")
    .argument(
      "[documents...]",
      "files or folders of OATF documents (default: the built-in library)",
    )
    .option("-t, --target <url>", "address of the agent", readAddress)
    .option("--through <url>", "address of a gateway in front of the same agent", readAddress)
    .addOption(
      new Option("--demo <agent>", "attack a built-in agent").choices(["vulnerable", "hardened"]),
    )
    .addOption(
      new Option("--transport <kind>", "transport (default: from the address)").choices([
        "post",
        "get",
        "websocket",
      ]),
    )
    .option(
      "-H, --header <header>",
      'header of every request, "Name: value" (repeatable)',
      readHeader,
    )
    .option("-f, --filter <words>", "only documents with one of these words")
    .option("--repeat <n>", "run each document n times; the worst outcome counts", readCount, 1)
    .option("--concurrency <n>", "number of documents that run at the same time", readCount, 4)
    .addOption(
      new Option("--timeout <seconds>", "time limit of one document")
        .argParser(readSeconds)
        .default(300_000, "300"),
    )
    .addOption(
      new Option("--idle <seconds>", "time limit for a stream without events")
        .argParser(readSeconds)
        .default(60_000, "60"),
    )
    .option("--strict", "evaluate single events only, never the joined text of a run")
    .option("--reveal", "show the matched text, which may contain secrets")
    .option("--trace", "with --json: include all messages")
    .option(
      "--baseline <file>",
      "earlier --json report; fail only on results that are new or worse",
    )
    .option("--resume <file>", "store finished documents in this file and do not run them again")
    .option("--junit <file>", "write JUnit XML")
    .option("--sarif <file>", "write SARIF 2.1.0")
    .option("--html <file>", "write an HTML page with filters and the messages of each run")
    .option("--markdown <file>", "write Markdown for the summary of a build")
    .option("--console <url>", "with --html: link receipts to this console", readAddress)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(run);
  addServerFlags(command);
}

async function run(paths: readonly string[], flags: Flags): Promise<void> {
  const documents = loadDocuments(paths, flags.filter);
  if (documents.length === 0)
    throw new TypeError("no document matches. Fix: change --filter or the paths");
  for (const option of ["junit", "sarif", "html", "markdown", "resume"] as const) {
    requireFolder(`--${option}`, flags[option]);
  }
  const baseline = flags.baseline === undefined ? undefined : readJson(flags.baseline);
  const book = flags.demo === undefined ? undefined : createAddressBook();
  const demo = await startDemoAgent(flags, book);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once("SIGINT", interrupt);
  try {
    const report = await runAll(documents, targetOf(flags, demo), flags, {
      ...serverOptions(flags, book, demo),
      signal: stop.signal,
    });
    const comparisons = baseline === undefined ? undefined : compareWithBaseline(report, baseline);
    present(report, comparisons, flags);
    process.exitCode = exitCodeOf(report, comparisons);
  } finally {
    process.off("SIGINT", interrupt);
    await demo?.close();
  }
}

function startDemoAgent(
  { demo }: Flags,
  book: AddressBook | undefined,
): Promise<RunningAgent> | undefined {
  if (demo === undefined) return undefined;
  return serveAgent(
    demo === "vulnerable" ? createVulnerableAgent(book) : createHardenedAgent(book),
  );
}

function targetOf(flags: Flags, demo: RunningAgent | undefined): string {
  const target = flags.target ?? (flags.transport === "websocket" ? demo?.webSocketUrl : demo?.url);
  if (target !== undefined) return target;
  throw new TypeError("no target. Fix: add --target URL, or try --demo vulnerable");
}

async function runAll(
  documents: ReturnType<typeof loadDocuments>,
  target: string,
  flags: Flags,
  more: Partial<SuiteOptions>,
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
          mcp: flags.mcpTarget,
          a2a: flags.a2aTarget,
          servers: [flags.serversFile, flags.serversProp, flags.mcpPort, flags.a2aPort],
        });
  const progress = createProgress("redteam", documents.length);
  const report = await runSuite(documents, {
    target,
    ...(through === undefined ? {} : { through }),
    ...(flags.transport === undefined ? {} : { transport: flags.transport }),
    headers: flags.header ?? {},
    ...more,
    timeouts: { document: flags.timeout, idle: flags.idle },
    strict: flags.strict === true,
    evaluation: { evidence: { reveal: flags.reveal === true }, source: `countersign/${VERSION}` },
    repeat: flags.repeat,
    concurrency: flags.concurrency,
    source: `countersign/${VERSION}`,
    ...(file === undefined ? {} : { done: file.done }),
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
  if (flags.markdown !== undefined) writeFileSync(flags.markdown, writeMarkdown(report));
  if (flags.html !== undefined) {
    const links = flags.console === undefined ? {} : { console: flags.console };
    writeFileSync(flags.html, writeHtml(report, links), secret);
  }
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
