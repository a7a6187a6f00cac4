import { isIP } from "node:net";
import { CountersignError, isCountersignError, isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { readText } from "../../files/read-file.js";
import "../errors.js";

const ANSWER_MS = 10_000;
/** More than any policy, resolved and with what is around it. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The default path of the admin token. */
export const TOKEN_VARIABLE = "COUNTERSIGN_ADMIN_TOKEN";

/** The document of the policy that decides at a gateway, asked through its control plane. */
export async function readRunningPolicy(
  address: string,
  tokenFile: string | undefined,
): Promise<JsonObject> {
  const url = new URL("/v1/policy", address);
  const token = readToken(tokenFile);
  if (url.protocol === "http:" && !isThisMachine(url.hostname)) {
    throw failure(url, "http would send the admin token unencrypted. Fix: use https or a tunnel");
  }
  try {
    // A redirect would send the token to another server.
    const response = await fetch(url, {
      redirect: "error",
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.status === 401)
      throw failure(
        url,
        "the gateway rejects the admin token. Fix: use the token that countersign serve printed at its first start",
      );
    if (!response.ok) throw failure(url, `it responded with status ${response.status}`);
    const answer = parseJson(await readBounded(response, url));
    const document = isJsonObject(answer) ? answer["document"] : undefined;
    if (document === undefined || !isJsonObject(document)) {
      throw failure(
        url,
        "the response is not from a control plane. Fix: check the address and the port",
      );
    }
    return document;
  } catch (error) {
    if (isCountersignError(error, "ERR_CLI_CONTROL")) throw error;
    throw failure(url, reasonOf(error));
  }
}

function readToken(file: string | undefined): string {
  const token = (file === undefined ? process.env[TOKEN_VARIABLE] : readText(file))?.trim() ?? "";
  if (token !== "") return token;
  throw new TypeError(
    `the admin token is missing. Fix: set ${TOKEN_VARIABLE}, or name a file with --token-file`,
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
  if (code !== undefined) return code;
  return cause instanceof Error ? cause.message : error.message;
}

function failure(url: URL, reason: string): CountersignError {
  return new CountersignError(
    "ERR_CLI_CONTROL",
    `the control plane at ${url.origin} did not give its policy: ${reason}`,
    { address: url.origin, reason },
  );
}
