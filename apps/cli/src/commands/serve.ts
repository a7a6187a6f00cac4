import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { CONSOLE_DIRECTORY } from "@countersign/console";
import { CountersignError } from "@countersign/core";
import { createJournal, loadConfig, MISSING_PARTS, startGateway } from "@countersign/gateway";
import type { AcceptedMissing, GatewayConfig, Journal, RunningGateway } from "@countersign/gateway";
import { DEFAULT_MESSAGE } from "@countersign/inspect";
import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import pc from "picocolors";
import { readText } from "../files/read-file.js";
import { EXIT } from "../output/failure.js";
import { printJson, printLine } from "../output/print.js";
import { VERSION } from "../output/version.js";
import { assertLocations, checkServe, compileServedPolicy } from "./check-serve.js";
import "./errors.js";
import { listenToHangups } from "./hangups.js";
import { displayAddress } from "./probe-agents.js";

type ServeFlags = {
  config: string;
  check?: boolean;
  ask?: boolean;
  whileRunning?: boolean;
  acceptMissing?: AcceptedMissing;
  json?: boolean;
};

const EXAMPLE = `
Example:
  $ countersign init
  $ countersign serve
  $ countersign serve --check --ask
  $ countersign serve --config /etc/countersign/countersign.yaml --check --while-running

SIGTERM drains (a second one hastens), SIGHUP reads the policy again. Exit code of --check: 1 when a start would be refused.
countersign receipts verify checks every entry of the log; --check does not.
`;

/** Adds `countersign serve`. */
export function registerServe(program: Command): void {
  program
    .command("serve")
    .description("run the gateway in front of the agents that countersign.yaml names")
    .option("-c, --config <file>", "configuration file", "countersign.yaml")
    .option(
      "--check",
      "look at configuration, policy and its tests, keys, store and ports without touching anything, and stop",
    )
    .option(
      "--ask",
      `with --check: also send each agent one request for a run ("${DEFAULT_MESSAGE}"), and see that it answers`,
    )
    .option(
      "--while-running",
      "with --check: ports may be in use, by the gateway that this one shall replace",
    )
    .addOption(
      new Option(
        "--accept-missing <part>",
        "start once although this part is missing beside a log with entries: checkpoint or ledger (repeatable)",
      ).argParser(collectMissing),
    )
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(serve);
}

function collectMissing(text: string, before: AcceptedMissing = new Set()): AcceptedMissing {
  const part = MISSING_PARTS.find((name) => name === text);
  if (part === undefined) throw new InvalidArgumentError(`Name ${MISSING_PARTS.join(" or ")}.`);
  return new Set([...before, part]);
}

async function serve(flags: ServeFlags): Promise<void> {
  if (!existsSync(flags.config)) {
    throw new CountersignError(
      "ERR_CLI_NO_CONFIG",
      `${flags.config} is not there; \`countersign init\` writes one to start from`,
      { file: flags.config },
    );
  }
  const config = loadConfig(readText(flags.config), {
    file: flags.config,
    environment: process.env,
  });
  if (flags.check === true) return check(config, flags);
  if (flags.ask === true || flags.whileRunning === true) {
    throw new TypeError("--ask and --while-running belong to --check");
  }
  const hangups = listenToHangups();
  checkPolicy(config.policyFile);
  assertLocations(config);
  tuneMemory();
  const journal = createJournal(config.log);
  // The reader of this output may exit before the gateway.
  process.stderr.on("error", () => {});
  const running = await startGateway(config, {
    journal,
    consoleDirectory: CONSOLE_DIRECTORY,
    ...(flags.acceptMissing === undefined ? {} : { acceptedMissing: flags.acceptMissing }),
  });
  const leave = listenToStops();
  greet(running, config, journal);
  hangups.follow(() => void running.reloadPolicy("signal"));
  const hasten = await leave;
  journal.info({ open: running.gateway.context.sessions.openRuns().length }, "stopping");
  const { stopped } = await running.drain(hasten);
  journal.info({ stopped }, "stopped");
  // A write that waits for a reader keeps the process alive for as long as the reader likes.
  if (!(await journal.flush(LAST_LINES_MS))) process.exit();
}

/** Milliseconds the last lines of the log may take. */
const LAST_LINES_MS = 2000;

/**
 * Events live for milliseconds, streams for minutes. V8 learns from the streams to allocate some objects of
 * every event in the old generation. There they keep others alive until the next major collection. Seven
 * times as much survived each minor one, and its pauses were twice as long.
 */
function tuneMemory(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}

/** Resolves at the first signal to stop; the signal it gives aborts at the second. */
function listenToStops(): Promise<AbortSignal> {
  const hasten = new AbortController();
  return new Promise((resolve) => {
    let asked = 0;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        asked += 1;
        if (asked === 1) resolve(hasten.signal);
        else hasten.abort();
      });
    }
  });
}

/** Says where it listens: in words on a terminal, as a line of the log elsewhere. */
function greet(running: RunningGateway, config: GatewayConfig, journal: Journal): void {
  const { dataUrl, controlUrl, consoleUrl, freshAdminToken } = running;
  const { hash, mode } = running.policy.holder.current;
  if (process.stdout.isTTY && config.log.format === "auto") {
    printLine(`${pc.bold("Countersign")} ${VERSION}, Node ${process.versions.node}`);
    printLine(`  ${pc.green("listening")} ${dataUrl}`);
    for (const { name } of config.agents) printLine(`    ${dataUrl}/agents/${name}`);
    printLine(`  control   ${controlUrl}`);
    if (consoleUrl !== undefined) printLine(`  console   ${consoleUrl}`);
    printLine(`  policy    ${mode}, hash ${hash.slice(0, 16)}…`);
  } else {
    journal.info(
      {
        data: dataUrl,
        control: controlUrl,
        ...(consoleUrl === undefined ? {} : { console: consoleUrl }),
        version: VERSION,
        node: process.versions.node,
        mode,
        hash,
      },
      `listening ${dataUrl} control ${controlUrl} in ${mode} mode`,
    );
  }
  // On standard error, so that no collector of logs keeps it.
  if (freshAdminToken !== undefined) {
    process.stderr.write(`admin token, shown once: ${freshAdminToken}\n`, (error) => {
      if (error === undefined || error === null) return;
      journal.warn({}, "the admin token could not be shown: remove its hash and start again");
    });
  }
}

async function check(config: GatewayConfig, flags: ServeFlags): Promise<void> {
  const agents = config.agents.map(({ name, url, transport }) => ({
    name,
    url: displayAddress(url),
    transport,
  }));
  if (flags.ask === true && flags.json !== true) {
    const each = agents.length === 1 ? "1 agent" : `each of ${agents.length} agents`;
    printLine(`Sending ${each} one request for a run: "${DEFAULT_MESSAGE}"`);
  }
  const findings = await checkServe(config, flags);
  const ok = findings.every((finding) => finding.ok);
  if (!ok) process.exitCode = EXIT.negative;
  if (flags.json === true) {
    printJson({ ok, agents, findings });
    return;
  }
  printLine(`${ok ? pc.green("ok") : pc.red("not ready")} ${flags.config}`);
  for (const { name, url, transport } of agents) {
    printLine(`  /agents/${name} → ${url} (${transport})`);
  }
  for (const { part, ok: isFine, says } of findings) {
    printLine(`  ${isFine ? pc.green("ok") : pc.red("no")} ${part}: ${says}`);
  }
}

/** A policy that is missing or broken is said before anything is opened. */
function checkPolicy(file: string | undefined): void {
  if (file === undefined) return;
  if (!existsSync(file)) {
    throw new CountersignError(
      "ERR_CLI_NO_FILE",
      `the policy ${file} is not there; \`countersign init\` writes one to start from`,
      { file },
    );
  }
  compileServedPolicy(file);
}
