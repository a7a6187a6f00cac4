import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join, sep } from "node:path";
import { isCountersignError } from "@countersign/core";
import {
  assertKeysStart,
  assertOwnLogIn,
  assertRegularFile,
  assertStoreStarts,
  findExposedKeys,
  inspectAccess,
  inspectEvidence,
  inspectOperators,
  inspectRedis,
  inspectTimestamps,
  inspectWitnesses,
  readKey,
  readRevocationFile,
  readTls,
  readWebhookSecrets,
} from "@countersign/gateway";
import type { AcceptedMissing, GatewayConfig } from "@countersign/gateway";
import type { CompiledPolicy } from "@countersign/policy";
import type { ReceiptStore } from "@countersign/receipts/log";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { runCases } from "@countersign/policy/cases";
import { describeFailure } from "../output/failure.js";
import { probeAgents } from "./probe-agents.js";
import { compilePolicyFile } from "./policy/policy-file.js";
import { readCases } from "./policy/read-cases.js";

/** An agent, as far as its address goes. */
type Addressed = { readonly name: string; readonly url: URL };

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The names of agents that are one server under one path, in groups; nothing of their addresses is in it. */
export function namesOfOneAddress(agents: readonly Addressed[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const { name, url } of agents) {
    const key = placeOf(url);
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
}

/** The host and port of an address, without transport and credential. */
function placeOf({ protocol, hostname, port, pathname, search }: URL): string {
  const isSecure = protocol === "https:" || protocol === "wss:";
  const host = LOOPBACK.has(hostname) ? "localhost" : hostname;
  return `${host}:${port || (isSecure ? "443" : "80")}${pathname.replace(/\/$/, "")}${search}`;
}

/** One thing that was looked at. */
export type Finding = { readonly part: string; readonly ok: boolean; readonly says: string };

const EMBEDDED = "sqlite:";
const KEYS = ["receipts", "checkpoint", "issuer"] as const;

/** How much is looked at. */
export type CheckOptions = {
  /** Start one run at each agent. */
  readonly ask?: boolean;
  /** The gateway that this one shall replace still runs, and has the ports. */
  readonly whileRunning?: boolean;
  /** The parts that may be missing next to the log. */
  readonly acceptMissing?: AcceptedMissing;
};

/** Looks at everything a start would need, without making, writing or locking anything. */
export async function checkServe(
  config: GatewayConfig,
  options: CheckOptions = {},
): Promise<Finding[]> {
  const { listen, control } = config;
  const { listener: scraped } = config.metrics;
  const mayBeTaken = options.whileRunning === true;
  return [
    await look("agents", () => checkAgents(config)),
    ...(options.ask === true ? await checkAnswers(config) : []),
    await look("policy", () => checkPolicy(config.policyFile)),
    ...(await checkCases(config.policyFile)),
    await look("keys", () => checkKeys(config.keyDirectory)),
    await look("store", () => checkStore(config, options)),
    ...(config.receipts.witnesses === undefined
      ? []
      : [await look("witnesses", () => checkWitnesses(config))]),
    ...(config.receipts.timestamps === undefined
      ? []
      : [await look("timestamps", () => inspectTimestamps(config))]),
    ...(config.evidence === undefined
      ? []
      : [await look("evidence", () => inspectEvidence(config))]),
    ...(config.redis === undefined ? [] : [await look("redis", () => inspectRedis(config))]),
    await look("revocations", () => checkRevocations(config)),
    await look("access", () => checkAccess(config)),
    await look("tls", () => checkTls(config.listen.tls)),
    ...(config.webhook === undefined
      ? []
      : [await look("webhook", () => checkWebhook(config.webhook))]),
    await look("operators", () => checkOperators(config)),
    ...(control.tls === undefined ? [] : [await look("control tls", () => checkTls(control.tls))]),
    await look("listen", () => checkPort(listen.host, listen.port, mayBeTaken)),
    await look("control", () => checkPort(control.host, control.port, mayBeTaken)),
    ...(scraped === undefined
      ? []
      : [await look("metrics", () => checkPort(scraped.host, scraped.port, mayBeTaken))]),
  ];
}

async function checkAnswers({ agents }: GatewayConfig): Promise<Finding[]> {
  const asked = await probeAgents(agents);
  return asked.map(({ name, ok, says }) => ({ part: `agent ${name}`, ok, says }));
}

/** The cases beside the policy, where there are any: `policy.test.yaml` beside `policy.yaml`. */
async function checkCases(policy: string | undefined): Promise<Finding[]> {
  const file = policy?.replace(/\.(ya?ml)$/u, ".test.$1");
  if (policy === undefined || file === undefined || file === policy || !existsSync(file)) return [];
  return [
    await look("policy tests", () => {
      const { results } = runCases(compileServedPolicy(policy), readCases(file).cases);
      const failed = results.filter(({ passed }) => !passed);
      const [first] = failed;
      if (first === undefined) return `${results.length} of ${results.length} cases pass`;
      throw new TypeError(
        `${failed.length} of ${results.length} cases fail, first "${first.name}". Fix: run countersign policy test ${file}`,
      );
    }),
  ];
}

/** Says which folder cannot be made, and why: of a read-only disk, making one says that it is not there. */
export function assertLocations({ keyDirectory, receipts }: GatewayConfig): void {
  assertPlace(keyDirectory);
  if (receipts.store.startsWith(EMBEDDED)) assertPlace(receipts.store.slice(EMBEDDED.length));
}

/** Whether the folder is still to be made; throws when it could not be. */
function assertPlace(directory: string): boolean {
  if (existsSync(directory)) return false;
  accessSync(nearestFolder(directory), constants.W_OK);
  return true;
}

async function look(part: string, work: () => string | Promise<string>): Promise<Finding> {
  try {
    return { part, ok: true, says: await work() };
  } catch (error) {
    return { part, ok: false, says: describeFailure(error).message };
  }
}

/** Nothing is wrong with two names for one agent, but who does not know what it means looks long for the reason. */
function checkAgents({ agents }: GatewayConfig): string {
  const shared = namesOfOneAddress(agents).map(
    (names) =>
      `${names.join(" and ")} have the same address; the gateway keeps their threads separate, so a conversation cannot change from one name to the other`,
  );
  return [`${agents.length} configured`, ...shared].join("; ");
}

/** The policy as a gateway would read it: it would have to read it again, so nothing but a regular file will do. */
export function compileServedPolicy(file: string): CompiledPolicy {
  assertRegularFile(file);
  return compilePolicyFile(file);
}

function checkPolicy(file: string | undefined): string {
  if (file === undefined)
    return "no policy is configured; the gateway uses the built-in starter policy";
  const { mode, hash } = compileServedPolicy(file);
  return `${file}, ${mode}, hash ${hash.slice(0, 16)}…`;
}

/** A key that others can read is told and no failure: some mounts cannot do better. */
async function checkKeys(directory: string): Promise<string> {
  if (assertPlace(directory)) return `${directory} will be created at the first start`;
  assertFolder(directory);
  const found = KEYS.map((name) => join(directory, `${name}.pem`)).filter(existsSync);
  for (const file of found) await readKey(file);
  await assertKeysStart(directory);
  const exposed = findExposedKeys(directory).map(
    ({ file, mode, rights, remedy }) =>
      `${basename(file)} can be ${rights} by other users (mode ${mode}. Fix: ${remedy})`,
  );
  return [`${directory}, ${found.length} of ${KEYS.length} keys exist`, ...exposed].join("; ");
}

/** An issuer that is out of reach does not keep a gateway from starting, so it is told and no failure. */
async function checkAccess({ access }: GatewayConfig): Promise<string> {
  const { said, away } = await inspectAccess(access);
  return [...said, ...away.map((problem) => `not reachable now: ${problem}`)].join(", ");
}

/** As with clients: a provider that is out of reach is reported, a wrong file is a failure. */
async function checkOperators({ control }: GatewayConfig): Promise<string> {
  const { said, away } = await inspectOperators(control);
  return [...said, ...away.map((problem) => `not reachable now: ${problem}`)].join(", ");
}

function checkRevocations(config: GatewayConfig): string {
  const { revocationFile: file, receipts } = config;
  if (file === undefined) {
    return receipts.store.startsWith(EMBEDDED) ? "not configured" : "in the database of the store";
  }
  if (!existsSync(file)) {
    if (!isMadeAtStart(config, dirname(file))) assertFolder(dirname(file));
    return `${file} will be created with the first revocation`;
  }
  return `${file}, ${readRevocationFile(file).length} revocations`;
}

/** Whether the first start makes this folder, on the way to its keys or its store. */
function isMadeAtStart({ keyDirectory, receipts }: GatewayConfig, folder: string): boolean {
  const made = [keyDirectory, receipts.store.slice(EMBEDDED.length)];
  return made.some((path) => `${path}${sep}`.startsWith(`${folder}${sep}`));
}

async function checkStore(
  config: GatewayConfig,
  { acceptMissing = new Set() }: CheckOptions,
): Promise<string> {
  const { receipts, keyDirectory } = config;
  const { store: address, origin } = receipts;
  const isEmbedded = address.startsWith(EMBEDDED);
  const directory = address.slice(EMBEDDED.length);
  return withStore(config, async (store) => {
    if (store === undefined) {
      const acceptsMissing = !isEmbedded || acceptMissing.has("checkpoint");
      await assertOwnLogIn(keyDirectory, origin, undefined, acceptsMissing);
      return isEmbedded
        ? `${directory} will be created at the first start`
        : "PostgreSQL responds; the log will be created at the first start";
    }
    await assertStoreStarts(config, store, acceptMissing);
    const { size } = await store.head();
    return `${isEmbedded ? directory : "PostgreSQL responds"}, ${size} entries`;
  });
}

function checkWitnesses(config: GatewayConfig): Promise<string> {
  return withStore(config, (store) => inspectWitnesses(config, store));
}

/** Runs with the store open for reading, or without one if the first start would create it. */
async function withStore(
  { receipts }: GatewayConfig,
  work: (store: ReceiptStore | undefined) => Promise<string>,
): Promise<string> {
  const { store: address, origin: log } = receipts;
  const store = address.startsWith(EMBEDDED)
    ? await openEmbedded(address.slice(EMBEDDED.length))
    : await openPostgresStore({ url: address, log, readOnly: true, connections: 1 }).catch(
        (error: unknown) => {
          if (isCountersignError(error, "ERR_STORE_ABSENT")) return undefined;
          throw error;
        },
      );
  try {
    return await work(store);
  } finally {
    await store?.close();
  }
}

async function openEmbedded(directory: string): Promise<ReceiptStore | undefined> {
  if (assertPlace(directory)) return undefined;
  assertFolder(directory);
  return openSqliteStore({ directory, readOnly: true });
}

/** Nothing is sent: the receiver may be an on-call system. */
function checkWebhook(webhook: GatewayConfig["webhook"]): string {
  if (webhook === undefined) return "off";
  readWebhookSecrets(webhook);
  return `${webhook.url.origin}, ${[...webhook.events].join(", ")}`;
}

function checkTls(tls: GatewayConfig["listen"]["tls"]): string {
  if (tls === undefined) return "off";
  readTls(tls);
  return tls.cert;
}

/** Whether the port could be had; it is given back at once. */
function checkPort(host: string, port: number, mayBeTaken: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") reject(error);
      else if (mayBeTaken) resolve(`${host}:${port} is in use, as expected with --while-running`);
      else {
        const fix = "stop the other process, choose another port, or add --while-running";
        reject(new TypeError(`${host}:${port} is in use. Fix: ${fix}`));
      }
    });
    server.listen(port, host, () => {
      const said = port === 0 ? "a free port" : `port ${port} is free`;
      server.close(() => resolve(`${host}, ${said}`));
    });
  });
}

function assertFolder(path: string): void {
  if (!statSync(path).isDirectory()) throw new TypeError(`${path} is not a directory`);
  accessSync(path, constants.R_OK | constants.W_OK);
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}
