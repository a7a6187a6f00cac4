import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { isCountersignError } from "@countersign/core";
import {
  assertOwnLogIn,
  assertRegularFile,
  findExposedKeys,
  inspectAccess,
  readKey,
  readRevocationFile,
  readTls,
} from "@countersign/gateway";
import type { GatewayConfig } from "@countersign/gateway";
import type { CompiledPolicy } from "@countersign/policy";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { describeFailure } from "../output/failure.js";
import { compilePolicyFile } from "./policy/policy-file.js";
import { namesOfOneAddress } from "./same-address.js";

/** One thing that was looked at. */
export type Finding = { readonly part: string; readonly ok: boolean; readonly says: string };

const EMBEDDED = "sqlite:";
const KEYS = ["receipts", "checkpoint", "issuer"] as const;

/** Looks at everything a start would need, without making, writing or locking anything. */
export async function checkServe(config: GatewayConfig): Promise<Finding[]> {
  return [
    await look("agents", () => checkAgents(config)),
    await look("policy", () => checkPolicy(config.policyFile)),
    await look("keys", () => checkKeys(config.keyDirectory)),
    await look("store", () => checkStore(config)),
    await look("revocations", () => checkRevocations(config)),
    await look("access", () => checkAccess(config)),
    await look("tls", () => checkTls(config.listen.tls)),
    await look("listen", () => checkPort(config.listen.host, config.listen.port)),
    await look("control", () => checkPort(config.control.host, config.control.port)),
  ];
}

/** Says which folder cannot be made, and why: of a read-only disk, making one says that it is not there. */
export function assertPlaces({ keyDirectory, receipts }: GatewayConfig): void {
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
      `${names.join(" and ")} have one address: their threads are separate, what one name delivered the other does not know`,
  );
  return [`${agents.length} configured`, ...shared].join("; ");
}

/** The policy as a gateway would read it: it would have to read it again, so nothing but a regular file will do. */
export function compileServedPolicy(file: string): CompiledPolicy {
  assertRegularFile(file);
  return compilePolicyFile(file);
}

function checkPolicy(file: string | undefined): string {
  if (file === undefined) return "no policy named: the built-in starter decides";
  const { mode, hash } = compileServedPolicy(file);
  return `${file}, ${mode}, hash ${hash.slice(0, 16)}…`;
}

/** A key that others can read is told and no failure: some mounts cannot do better. */
async function checkKeys(directory: string): Promise<string> {
  if (assertPlace(directory)) return `${directory} will be made at the first start`;
  assertFolder(directory);
  const found = KEYS.map((name) => join(directory, `${name}.pem`)).filter(existsSync);
  for (const file of found) await readKey(file);
  const exposed = findExposedKeys(directory).map(
    ({ file, mode, rights, remedy }) =>
      `${basename(file)} can be ${rights} by others (mode ${mode}; ${remedy})`,
  );
  return [`${directory}, ${found.length} of ${KEYS.length} keys are there`, ...exposed].join("; ");
}

/** An issuer that is out of reach does not keep a gateway from starting, so it is told and no failure. */
async function checkAccess({ access }: GatewayConfig): Promise<string> {
  const { said, away } = await inspectAccess(access);
  return [...said, ...away.map((problem) => `for now out of reach: ${problem}`)].join(", ");
}

function checkRevocations({ revocationFile: file, receipts }: GatewayConfig): string {
  if (file === undefined) {
    return receipts.store.startsWith(EMBEDDED) ? "none are kept" : "in the database of the store";
  }
  if (!existsSync(file)) return `${file} will be made with the first one`;
  return `${file}, ${readRevocationFile(file).length} revocations`;
}

async function checkStore({ receipts, keyDirectory }: GatewayConfig): Promise<string> {
  const { store: address, origin } = receipts;
  if (!address.startsWith(EMBEDDED)) {
    return checkPostgres(address, origin, keyDirectory);
  }
  const directory = address.slice(EMBEDDED.length);
  if (assertPlace(directory)) {
    await assertOwnLogIn(keyDirectory, origin, undefined);
    return `${directory} will be made at the first start`;
  }
  assertFolder(directory);
  const store = await openSqliteStore({ directory, readOnly: true });
  try {
    await assertOwnLogIn(keyDirectory, origin, store);
    return `${directory}, ${(await store.head()).size} entries`;
  } finally {
    await store.close();
  }
}

async function checkPostgres(url: string, log: string, keys: string): Promise<string> {
  try {
    const store = await openPostgresStore({ url, log, readOnly: true, connections: 1 });
    try {
      await assertOwnLogIn(keys, log, store);
      return `PostgreSQL answers, ${(await store.head()).size} entries`;
    } finally {
      await store.close();
    }
  } catch (error) {
    if (isCountersignError(error, "ERR_STORE_ABSENT")) {
      await assertOwnLogIn(keys, log, undefined);
      return "PostgreSQL answers; the log will be made at the first start";
    }
    throw error;
  }
}

function checkTls(tls: GatewayConfig["listen"]["tls"]): string {
  if (tls === undefined) return "off";
  readTls(tls);
  return tls.cert;
}

/** Whether the port could be had; it is given back at once. */
function checkPort(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      // The gateway that this one shall replace may still run.
      if (error.code === "EADDRINUSE") resolve(`${host}:${port} is in use now`);
      else reject(error);
    });
    server.listen(port, host, () => {
      server.close(() => resolve(`${host}:${port} is free`));
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
