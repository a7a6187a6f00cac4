import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pageAddress } from "@countersign/core";
import { CONFIG_SCHEMA } from "@countersign/gateway";
import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import pc from "picocolors";
import { COMMAND } from "../output/command-name.js";
import { EXIT } from "../output/failure.js";
import { pageReference, referPages } from "../output/pages.js";
import { printJson, printLine } from "../output/print.js";
import { isInteractive, withQuestions } from "../output/questions.js";
import type { Terminal } from "../output/questions.js";
import { readAddress, readPort } from "./capture/arguments.js";
import { PRESETS, presetCases, presetPolicy } from "./presets.js";
import { shippedPolicy } from "../files/shipped-policy.js";

const EXAMPLE = `
On a terminal, init asks for the agent's address, its framework and the port. It asks nothing if you give one of them as an
option, add --yes or --json, or use a pipe. It keeps files that exist unless you add --force.

Exit code: 0 all files written, 1 a file existed and was kept.

Examples:
  $ countersign init my-gateway
  $ countersign init my-gateway --agent http://localhost:8000/ --port 9000
  $ countersign init my-gateway --for langgraph --tool show_map
  $ countersign init --yes --json
`;

const NEXT = [
  ["policy test policy.test.yaml", "test the policy with its cases"],
  ["serve --check --ask", "check everything that a start needs, and send the agent one request"],
  ["serve", "start the gateway; it prints the admin token once"],
] as const;

const AGENT = "http://127.0.0.1:8000/";
const PORT = 8080;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

type Flags = {
  agent?: string;
  for?: string;
  port?: number;
  tool?: string[];
  yes?: boolean;
  force?: boolean;
  json?: boolean;
};

/** The answers that the starter files depend on. */
type Setup = { readonly agent: URL; readonly framework: string; readonly port: number };

/** Adds `countersign init`. */
export function registerInit(program: Command): void {
  program
    .command("init")
    .description("write countersign.yaml, a commented policy and test cases for it")
    .argument("[directory]", "directory to write to", ".")
    .option(
      "--agent <url>",
      `address of your agent: http, https, ws or wss (default: ${AGENT})`,
      readAddress,
    )
    .addOption(
      new Option(
        "--for <framework>",
        "also write a policy that allows what this framework needs; it extends policy.yaml",
      ).choices(Object.keys(PRESETS)),
    )
    .option(
      "--tool <name>",
      "with --for: a tool of the page that the agent may call (repeatable)",
      (name: string, before: string[] = []) => [...before, name],
    )
    .option(
      "-p, --port <number>",
      `port for clients; the control plane gets the next one (default: ${PORT})`,
      readDataPort,
    )
    .option("-y, --yes", "ask nothing; use the defaults for options that are not given")
    .option("--force", "overwrite existing files")
    .option("--json", "print JSON; ask nothing")
    .addHelpText("after", EXAMPLE)
    .action(init);
}

async function init(directory: string, flags: Flags): Promise<void> {
  if (/\.(?:ya?ml|json)$/u.test(directory)) {
    const folder = dirname(directory);
    throw new TypeError(
      `init writes several files into a directory, and ${directory} looks like a file. Fix: countersign init ${folder}`,
    );
  }
  const setup = await chooseSetup(directory, flags, {
    input: process.stdin,
    output: process.stdout,
  });
  mkdirSync(directory, { recursive: true });
  const written: string[] = [];
  const kept: string[] = [];
  for (const [name, text] of starterFiles(setup, flags.tool)) {
    const file = join(directory, name);
    if (existsSync(file) && flags.force !== true) {
      kept.push(file);
    } else {
      writeFileSync(file, text);
      written.push(file);
    }
  }
  if (kept.length > 0) process.exitCode = EXIT.negative;
  if (flags.json === true) {
    printJson({ written, kept });
    return;
  }
  for (const file of written) printLine(`${pc.green("wrote")} ${file}`);
  for (const file of kept)
    printLine(`${pc.yellow("kept")}  ${file} (exists; --force overwrites it)`);
  printLine("\nNext:");
  if (directory !== ".") printLine(`  ${pc.bold(`cd ${directory}`)}`);
  const cases = written.find((file) => /policy\.[\w-]+\.test\.yaml$/u.test(file));
  const [first, ...others] = NEXT;
  const ofPreset =
    cases === undefined
      ? []
      : ([
          [`policy test ${basename(cases)}`, "test what it decides about the interfaces"],
        ] as const);
  for (const [verb, purpose] of [first, ...ofPreset, ...others]) {
    printLine(`  ${pc.bold(`${COMMAND} ${verb}`.padEnd(COMMAND.length + 35))} ${purpose}`);
  }
  // A policy that was there before may enforce.
  if (!written.includes(join(directory, "policy.yaml"))) return;
  printLine(
    `\nThe policy observes and blocks nothing yet. To enforce it: ${pageReference("policy/opening.md")}`,
  );
}

/** The answers of a person at a terminal; or the options, with defaults for those that are missing. */
export async function chooseSetup(
  directory: string,
  flags: Flags,
  terminal: Terminal,
): Promise<Setup> {
  const isAsking =
    // A block of commands that a person pastes names options; questions would take the next command as an answer.
    [flags.agent, flags.for, flags.port].every((given) => given === undefined) &&
    flags.yes !== true &&
    flags.json !== true &&
    isInteractive(terminal) &&
    // An existing configuration is kept, so answers would change nothing.
    (flags.force === true || !existsSync(join(directory, "countersign.yaml")));
  const setup = isAsking ? await askSetup(terminal) : defaultSetup(flags);
  assertPortsDiffer(setup.agent, setup.port);
  return setup;
}

function defaultSetup({ agent = AGENT, for: framework = "", port = PORT }: Flags): Setup {
  return { agent: new URL(agent), framework, port };
}

async function askSetup(terminal: Terminal): Promise<Setup> {
  return withQuestions(terminal, async (ask) => {
    const agent = new URL(
      await ask({ text: "Address of your agent?", fallback: AGENT, read: readAddress }),
    );
    const framework = await ask({
      text: "Framework of your agent?",
      hint: `Frameworks with a ready policy: ${Object.keys(PRESETS).join(", ")}`,
      fallback: NO_FRAMEWORK,
      read: readFramework,
    });
    const port = await ask({
      text: "Port for clients?",
      fallback: String(PORT),
      read: (text) => assertPortsDiffer(agent, readDataPort(text)),
    });
    return { agent, framework, port };
  });
}

const NO_FRAMEWORK = "other";

function readFramework(text: string): string {
  const name = text.toLowerCase();
  if (name === NO_FRAMEWORK) return "";
  if (Object.hasOwn(PRESETS, name)) return name;
  throw new InvalidArgumentError(`Write one of the names above, or ${NO_FRAMEWORK}.`);
}

/** Reads the port of the data plane; the control plane needs the next one. */
function readDataPort(text: string): number {
  const port = readPort(text);
  if (port === 65_535) throw new InvalidArgumentError("Write a port below 65535.");
  return port;
}

/** The port for clients, if neither it nor the next one is the port of an agent on this machine. */
function assertPortsDiffer(agent: URL, port: number): number {
  const own = LOOPBACK.has(agent.hostname) ? Number(agent.port) : 0;
  if (own === 0 || (own !== port && own !== port + 1)) return port;
  throw new TypeError(
    `the gateway would use ports ${port} and ${port + 1}, and the agent listens on ${own}. Fix: choose another port, for example --port ${own + 10}`,
  );
}

function starterFiles(
  { agent, framework, port }: Setup,
  tools: readonly string[] = [],
): readonly (readonly [name: string, text: string])[] {
  const preset = PRESETS[framework];
  const cases = preset && presetCases(framework, preset);
  const policy = preset === undefined ? "policy.yaml" : `policy.${framework}.yaml`;
  return [
    ["policy.yaml", shipped("starter.yaml")],
    ["policy.test.yaml", shipped("starter.test.yaml").replaceAll("starter.", "policy.")],
    ["policy.schema.json", shipped("policy.schema.json")],
    ["countersign.schema.json", `${JSON.stringify(CONFIG_SCHEMA, undefined, 2)}\n`],
    ...(preset === undefined ? [] : [[policy, presetPolicy(framework, preset, tools)] as const]),
    ...(cases === undefined ? [] : [[`policy.${framework}.test.yaml`, cases] as const]),
    ["countersign.yaml", configuration(agent, port, policy, preset?.agent)],
  ];
}

function shipped(name: string): string {
  return referPages(readFileSync(shippedPolicy(name), "utf8"), pageAddress);
}

function configuration(
  agent: URL,
  port: number,
  policy: string,
  lines: readonly string[] = [],
): string {
  return `# yaml-language-server: $schema=./countersign.schema.json
# Configuration of the gateway: its addresses, its agents and its policy.

# Clients connect here instead of to the agent: POST /agents/main, or a WebSocket at /agents/main/ws.
listen:
  host: 127.0.0.1
  port: ${port}

# Console and control API: sessions, receipts, capabilities and policy. They need the admin token that serve prints once.
control:
  host: 127.0.0.1
  port: ${port === 0 ? 0 : port + 1}

agents:
  main:
    url: ${JSON.stringify(agent.href)}
    # Transport between gateway and agent: post-sse, get-sse or websocket.
    transport: ${agent.protocol.startsWith("ws") ? "websocket" : "post-sse"}${lines.map((line) => `\n    ${line}`).join("")}

# The policy decides which events reach the client. It starts in observe mode and blocks nothing yet.
policy: ${policy}

# Origins of the web pages that may call the gateway.
origins:
  - http://localhost:3000

# The gateway stores a receipt of every decision before it delivers the event.
receipts:
  store: sqlite:.countersign/receipts
  durability: strict

# Revoked capability tokens, one per line. The control API appends to this file; you may too. A line takes effect at the next event.
capabilities:
  revocations: .countersign/revoked.jsonl

# Seconds that open runs get to finish when the gateway stops.
shutdown:
  drain_timeout: 30

# Access control. Without this block, only clients on this machine can connect.
# access: { mode: jwt, jwt: { issuer: "https://login.example.org", audience: countersign, jwks: "https://login.example.org/.well-known/jwks.json" } }
# log: { level: info, format: auto }
# metrics: { public: false }
# tracing: { endpoint: "http://127.0.0.1:4318/v1/traces" }
`;
}
