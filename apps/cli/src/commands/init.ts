import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pageAddress } from "@countersign/core";
import { CONFIG_SCHEMA } from "@countersign/gateway";
import { Option, type Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../output/failure.js";
import { referPages } from "../output/pages.js";
import { printJson, printLine } from "../output/print.js";
import { readAddress } from "./capture/arguments.js";
import { PRESETS, presetPolicy } from "./presets.js";

const EXAMPLE = `
Files that are there already are left alone unless --force is given.
Exit code: 0 written, 1 a file was in the way.

Example:
  $ countersign init my-gateway --agent http://localhost:8000/
  $ cd my-gateway
  $ countersign serve --check --ask
  $ countersign serve
  $ countersign init my-gateway --for langgraph --tool show_map
`;

const NEXT = [
  ["countersign policy test policy.test.yaml", "the policy does what its cases say"],
  ["countersign serve --check --ask", "everything a start needs is there, and the agent answers"],
  ["countersign serve", "protects the agent; prints the admin token once"],
] as const;

type Flags = { agent: string; for?: string; tool?: string[]; force?: boolean; json?: boolean };

/** Adds `countersign init`. */
export function registerInit(program: Command): void {
  program
    .command("init")
    .description("write a commented policy, cases for it and a countersign.yaml to start from")
    .argument("[directory]", "where to", ".")
    .option(
      "--agent <url>",
      "where your agent listens (http, https, ws, wss)",
      readAddress,
      "http://127.0.0.1:8000/",
    )
    .addOption(
      new Option(
        "--for <framework>",
        "also write what this framework needs to be open, as a policy that extends policy.yaml",
      ).choices(Object.keys(PRESETS)),
    )
    .option(
      "--tool <name>",
      "with --for: a tool of the page that the agent may call; may be given again",
      (name: string, before: string[] = []) => [...before, name],
    )
    .option("--force", "overwrite files that are there")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(init);
}

function init(directory: string, flags: Flags): void {
  const url = new URL(flags.agent);
  mkdirSync(directory, { recursive: true });
  const written: string[] = [];
  const kept: string[] = [];
  for (const [name, text] of starterFiles(url, flags)) {
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
  for (const file of kept) printLine(`${pc.yellow("kept")}  ${file} (--force overwrites)`);
  printLine("\nNext:");
  if (directory !== ".") printLine(`  ${pc.bold(`cd ${directory}`)}`);
  for (const [command, why] of NEXT) printLine(`  ${pc.bold(command.padEnd(40))} ${why}`);
}

function starterFiles(
  agent: URL,
  { for: framework = "", tool: tools = [] }: Flags,
): readonly (readonly [name: string, text: string])[] {
  const preset = PRESETS[framework];
  const policy = preset === undefined ? "policy.yaml" : `policy.${framework}.yaml`;
  return [
    ["policy.yaml", shipped("starter.yaml")],
    ["policy.test.yaml", shipped("starter.test.yaml").replaceAll("starter.", "policy.")],
    ["policy.schema.json", shipped("policy.schema.json")],
    ["countersign.schema.json", `${JSON.stringify(CONFIG_SCHEMA, undefined, 2)}\n`],
    ...(preset === undefined ? [] : [[policy, presetPolicy(framework, preset, tools)] as const]),
    ["countersign.yaml", configuration(agent, policy, preset?.agent)],
  ];
}

function shipped(name: string): string {
  const { resolve } = createRequire(import.meta.url);
  return referPages(
    readFileSync(resolve(`@countersign/policy/policies/${name}`), "utf8"),
    pageAddress,
  );
}

function configuration(agent: URL, policy: string, lines: readonly string[] = []): string {
  return `# yaml-language-server: $schema=./countersign.schema.json
# Where the gateway listens, which agents stand behind it, and what may pass.

# Clients connect here instead of to the agent: POST /agents/main, or a WebSocket at /agents/main/ws.
listen:
  host: 127.0.0.1
  port: 8080

# Sessions, receipts, capabilities and policy; needs the admin token that serve prints once.
control:
  host: 127.0.0.1
  port: 8081

agents:
  main:
    url: ${JSON.stringify(agent.href)}
    # How the agent is spoken to: post-sse, get-sse or websocket.
    transport: ${agent.protocol.startsWith("ws") ? "websocket" : "post-sse"}${lines.map((line) => `\n    ${line}`).join("")}

# What the agent may do to the person's screen. It starts in observe mode: nothing is blocked yet.
policy: ${policy}

# Pages that may call the gateway from a browser.
origins:
  - http://localhost:3000

# A receipt for every decision, durable before the event is delivered.
receipts:
  store: sqlite:.countersign/receipts
  durability: strict

# Tokens revoked here count from the next event on; the control API appends to it, and so may you.
capabilities:
  revocations: .countersign/revoked.jsonl

# How long open runs get to end when the gateway is told to stop, in seconds.
shutdown:
  drain_timeout: 30

# Who may connect: without this block everybody on this machine, and nobody else.
# access: { mode: jwt, jwt: { issuer: "https://login.example.org", audience: countersign, jwks: "https://login.example.org/.well-known/jwks.json" } }
# log: { level: info, format: auto }
# metrics: { public: false }
# tracing: { endpoint: "http://127.0.0.1:4318/v1/traces" }
`;
}
