import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "@countersign/testkit";
import { writeCertificate } from "./certificate.js";
import { endWithParent, stopChild } from "./peer.js";
import { memoryFlags } from "./bare-server.js";
import type { Checked, Place, Running } from "./variant.js";

/** The checkout that this file was built in. */
const OWN_CHECKOUT = fileURLToPath(new URL("../../../", import.meta.url));

/** As deploy/ starts it; the default of Node up to 22. */
const YOUNG_SPACE = "--max-semi-space-size=16";

function commandOf(checkout: string): string {
  return join(checkout, "apps/cli/bin/countersign.js");
}

/** Of the tool that the agent calls: the gateway holds a call until its arguments are complete. */
const FLIGHTS = {
  type: "object",
  additionalProperties: { type: "string", maxLength: 100 },
  maxProperties: 10,
};

/** The policy of `countersign init`, with a rate and a length that a load test does not reach. */
function policyFor(): string {
  const { resolve } = createRequire(import.meta.url);
  const changes: [RegExp, string][] = [
    [/^mode: \w+$/mu, "mode: enforce"],
    [/max_events_per_second: \d+/u, "max_events_per_second: 1000000"],
    [/max_characters: \d+/u, "max_characters: 100000000"],
    [/"\/ui\/theme\/\*\*"/u, '"/progress/**"'],
    [/^ {4}arguments:$/mu, `$&\n      search_flights: ${JSON.stringify(FLIGHTS)}`],
  ];
  const starter = readFileSync(resolve("@countersign/policy/policies/starter.yaml"), "utf8");
  return changes.reduce((text, [pattern, by]) => replaced(text, pattern, by), starter);
}

function replaced(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`the starter policy no longer has ${String(pattern)}`);
  return text.replace(pattern, by);
}

function configurationFor(place: Place, store: string): string {
  const { agentPort, directory, transport, sign, shared } = place;
  const tls = transport === "tls" ? `, tls: ${JSON.stringify(writeCertificate(directory))}` : "";
  return `listen: { host: 127.0.0.1, port: 0${tls} }
control: { host: 127.0.0.1, port: 0 }
agents:
  agent: { url: "http://127.0.0.1:${agentPort}/", transport: post-sse, idle_timeout: 600 }
policy: policy.yaml
receipts:
  store: ${store}
  durability: strict
  sign: ${sign ?? "batch"}
keys: { directory: ${shared?.keys ?? "keys"} }
${shared?.lines ?? ""}`;
}

/** Starts the built command of a checkout as an operator would. */
export async function startCountersign(place: Place, checkout = OWN_CHECKOUT): Promise<Running> {
  const command = commandOf(checkout);
  const { directory, forMemory, transport } = place;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "policy.yaml"), policyFor());
  const hasOwn = place.store === "postgres" && place.shared === undefined;
  const database = hasOwn ? await startPostgres() : undefined;
  const store = place.shared?.database ?? database?.url ?? "sqlite:receipts";
  const configuration = configurationFor(place, store);
  writeFileSync(join(directory, "countersign.yaml"), configuration);
  const memoryFile = join(directory, "memory.json");
  const child = spawn(
    process.execPath,
    [YOUNG_SPACE, ...memoryFlags(forMemory), command, "serve"],
    {
      cwd: directory,
      env: { ...process.env, NO_COLOR: "1", BENCH_MEMORY_FILE: memoryFile },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  endWithParent(child);
  child.stderr.pipe(createWriteStream(join(directory, "stderr.txt")));
  const journal = createWriteStream(join(directory, "stdout.txt"));
  const port = await new Promise<number>((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (piece: Buffer) => {
      journal.write(piece);
      if (said.length > 10_000) return;
      said += piece.toString();
      const found = /listening https?:\/\/127\.0\.0\.1:(\d+)/u.exec(said)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once("exit", () => reject(new Error(`countersign serve ended: see ${directory}`)));
  });
  return {
    target: { port, path: `/agents/agent${transport === "websocket" ? "/ws" : ""}`, transport },
    pids: () => [child.pid ?? 0],
    ...(forMemory ? { memoryFile } : {}),
    stop: () => stopChild(child),
    release: async () => database?.stop(),
    check: (sentEvents, isDeep) => checkLog(command, directory, sentEvents, isDeep),
  };
}

function runCommand(command: string, directory: string, args: readonly string[]): unknown {
  const env = { ...process.env, NO_COLOR: "1" };
  const ran = spawnSync(process.execPath, [command, ...args, "--json"], {
    cwd: directory,
    env,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (ran.status !== 0) {
    throw new Error(`countersign ${args.join(" ")} in ${directory}: ${ran.stdout}${ran.stderr}`);
  }
  return JSON.parse(ran.stdout);
}

/** Every event of the agent has its receipt, all are allowed, and the whole log verifies. */
function checkLog(
  command: string,
  directory: string,
  sentEvents: number,
  isDeep: boolean,
): Checked {
  type Counts = { rows: { count: number; group: unknown[] }[] };
  const counted = runCommand(command, directory, [
    "receipts",
    "stats",
    "--by",
    "direction,allowed",
  ]);
  const { rows } = counted as Counts;
  const outbound = rows.filter(({ group }) => group[0] === "outbound");
  const receipts = outbound.reduce((sum, { count }) => sum + count, 0);
  const blocked = rows.filter(({ group }) => group[1] === false || group[1] === 0);
  if (receipts !== sentEvents || blocked.length > 0) {
    throw new Error(
      `${sentEvents} events were sent, and the log in ${directory} holds ${JSON.stringify(rows)}`,
    );
  }
  if (isDeep) runCommand(command, directory, ["receipts", "verify"]);
  return { receipts, verified: isDeep ? receipts : 0 };
}
