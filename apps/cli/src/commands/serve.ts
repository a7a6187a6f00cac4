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
SIGTERM or Ctrl+C stops the gateway after open runs have finished; a second signal stops it at once. SIGHUP reloads the policy.
--check does not read every entry of the log; countersign receipts verify does.

Exit code of --check: 0 the gateway can start, 1 it cannot.

Examples:
  $ countersign serve
  $ countersign serve --check --ask
  $ countersign serve --config /etc/countersign/countersign.yaml --check --while-running
`;

/** Adds `countersign serve`. */
export function registerServe(program: Command): void {
  program
    .command("serve")
    .description("start the gateway in front of the agents of countersign.yaml")
    .option("-c, --config <file>", "configuration file", "countersign.yaml")
    .option(
      "--check",
      "check configuration, policy, policy tests, keys, store and ports, change nothing, and exit",
    )
    .option(
      "--ask",
      `with --check: also send each agent one request ("${DEFAULT_MESSAGE}") and check its response`,
    )
    .option(
      "--while-running",
      "with --check: accept ports that are in use by the gateway that this one replaces",
    )
    .addOption(
      new Option(
        "--accept-missing <part>",
        "start once although the log has entries and this part is missing: checkpoint or ledger (repeatable)",
      ).argParser(collectMissing),
    )
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(serve);
}

function collectMissing(text: string, before: AcceptedMissing = new Set()): AcceptedMissing {
  const part = MISSING_PARTS.find((name) => name === text);
  if (part === undefined) throw new InvalidArgumentError(`Write ${MISSING_PARTS.join(" or ")}.`);
  return new Set([...before, part]);
}

async function serve(flags: ServeFlags): Promise<void> {
  if (!existsSync(flags.config)) {
    throw new CountersignError(
      "ERR_CLI_NO_CONFIG",
      `${flags.config} does not exist. Fix: run countersign init to write it, or name another file with --config`,
      { file: flags.config },
    );
  }
  const config = loadConfig(readText(flags.config), {
    file: flags.config,
    environment: process.env,
  });
  if (flags.check === true) return check(config, flags);
  if (flags.ask === true || flags.whileRunning === true) {
    throw new TypeError("--ask and --while-running need --check. Fix: add --check");
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
  await journal.stopExport();
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
  const { dataUrl, controlUrl, consoleUrl, metricsUrl, freshAdminToken } = running;
  const { hash, mode } = running.policy.holder.current;
  if (process.stdout.isTTY && config.log.format === "auto") {
    printLine(`${pc.bold("Countersign")} ${VERSION}, Node ${process.versions.node}`);
    printLine(`  ${pc.green("listening")} ${dataUrl}`);
    for (const { name } of config.agents) printLine(`    ${dataUrl}/agents/${name}`);
    printLine(`  control   ${controlUrl}`);
    if (consoleUrl !== undefined) printLine(`  console   ${consoleUrl}`);
    if (metricsUrl !== undefined) printLine(`  metrics   ${metricsUrl}`);
    printLine(`  policy    ${mode}, hash ${hash.slice(0, 16)}…`);
  } else {
    journal.info(
      {
        data: dataUrl,
        control: controlUrl,
        ...(consoleUrl === undefined ? {} : { console: consoleUrl }),
        ...(metricsUrl === undefined ? {} : { metrics: metricsUrl }),
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
      journal.warn(
        {},
        "the admin token could not be printed. Fix: remove admin-token.sha256 from the key directory and restart",
      );
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
    printLine(`Sending ${each} one request: "${DEFAULT_MESSAGE}"`);
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
    printLine(`  ${isFine ? pc.green("ok") : pc.red("failed")} ${part}: ${says}`);
  }
}

/** A policy that is missing or broken is said before anything is opened. */
function checkPolicy(file: string | undefined): void {
  if (file === undefined) return;
  if (!existsSync(file)) {
    throw new CountersignError(
      "ERR_CLI_NO_FILE",
      `the policy ${file} does not exist. Fix: correct policy in the configuration, or run countersign init to write one`,
      { file },
    );
  }
  compileServedPolicy(file);
}
