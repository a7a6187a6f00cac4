import { isIP } from "node:net";
import { CountersignError, isCountersignError, isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { Command } from "commander";
import { readText } from "../../files/read-file.js";
import { CONFIG_FILE, readConfiguration } from "../configuration.js";
import "../errors.js";

const ANSWER_MS = 10_000;
/** More than any policy, resolved and with what is around it. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The variable of the token of an operator. */
export const TOKEN_VARIABLE = "COUNTERSIGN_ADMIN_TOKEN";

/** Flags of commands that call a running gateway. */
export type ControlFlags = {
  readonly config: string;
  readonly control?: string;
  readonly tokenFile?: string;
};

/** Adds the flags that say where the gateway is, and as which operator to call it. */
export function addControlFlags(command: Command): Command {
  return command
    .option(
      "-c, --config <file>",
      "configuration with the address of the control plane",
      CONFIG_FILE,
    )
    .option("--control <address>", "address of the control plane, instead of the configured one")
    .option("--token-file <file>", `file with the token, instead of ${TOKEN_VARIABLE}`);
}

/** The control address of a configuration; for a gateway on all interfaces, this machine's. */
export function controlAddress(config: string): string {
  const control = readConfiguration(config)?.control;
  const { host, port } = control ?? { host: "127.0.0.1", port: 8081 };
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const scheme = control?.tls === undefined ? "http" : "https";
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** Calls the control plane that the flags name; a body makes it a POST. */
export async function callControl(
  flags: ControlFlags,
  path: string,
  body?: JsonObject,
): Promise<JsonObject> {
  return requestControl(flags.control ?? controlAddress(flags.config), path, {
    tokenFile: flags.tokenFile,
    ...(body === undefined ? {} : { body }),
  });
}

/** The document of the policy that decides at a gateway, asked through its control plane. */
export async function readRunningPolicy(
  address: string,
  tokenFile: string | undefined,
): Promise<JsonObject> {
  const { document } = await requestControl(address, "/v1/policy", { tokenFile });
  if (document !== undefined && isJsonObject(document)) return document;
  throw notControl(new URL(address));
}

async function requestControl(
  address: string,
  path: string,
  options: { readonly tokenFile: string | undefined; readonly body?: JsonObject },
): Promise<JsonObject> {
  const url = new URL(path, address);
  const token = readToken(options.tokenFile);
  if (url.protocol === "http:" && !isThisMachine(url.hostname)) {
    throw failure(url, "http would send the token unencrypted. Fix: use https or a tunnel");
  }
  const { body } = options;
  try {
    // A redirect would send the token to another server.
    const response = await fetch(url, {
      redirect: "error",
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    if (response.status === 401)
      throw failure(
        url,
        "the gateway rejects the token. Fix: use the token of an operator, or the admin token that countersign serve printed at its first start",
      );
    const answer = parseJson(await readBounded(response, url));
    if (!response.ok) throw failure(url, reasonOfProblem(answer, response.status));
    if (!isJsonObject(answer)) throw notControl(url);
    return answer;
  } catch (error) {
    if (isCountersignError(error, "ERR_CLI_CONTROL")) throw error;
    if (isCountersignError(error)) throw notControl(url);
    throw failure(url, reasonOf(error));
  }
}

/** The text of a problem document, with its code. */
function reasonOfProblem(answer: unknown, status: number): string {
  const { title, detail, code } = (typeof answer === "object" && answer !== null ? answer : {}) as {
    title?: unknown;
    detail?: unknown;
    code?: unknown;
  };
  const words = typeof detail === "string" ? detail : title;
  if (typeof words !== "string") return `it responded with status ${status}`;
  return typeof code === "string" ? `${words} (${code})` : words;
}

function readToken(file: string | undefined): string {
  const token = (file === undefined ? process.env[TOKEN_VARIABLE] : readText(file))?.trim() ?? "";
  if (token !== "") return token;
  throw new TypeError(
    `the token of an operator is missing. Fix: set ${TOKEN_VARIABLE}, or name a file with --token-file`,
  );
}

async function readBounded(response: Response, url: URL): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > MAX_BYTES) throw failure(url, "its response is too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function isThisMachine(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/u, "$1");
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.name === "TimeoutError") return `no response in ${ANSWER_MS / 1000} seconds`;
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  if (code === "ECONNREFUSED") return "nothing listens there. Fix: start the gateway";
  if (code !== undefined) return code;
  return cause instanceof Error ? cause.message : error.message;
}

function notControl(url: URL): CountersignError {
  return failure(
    url,
    "the response is not from a control plane. Fix: check the address and the port",
  );
}

function failure(url: URL, reason: string): CountersignError {
  return new CountersignError(
    "ERR_CLI_CONTROL",
    `the control plane at ${url.origin} did not do what was requested: ${reason}`,
    { address: url.origin, reason },
  );
}
