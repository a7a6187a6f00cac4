import { readFileSync } from "node:fs";
import type { AccessConfig } from "../config/config.js";
import { parseKeyFile } from "./key-file.js";
import { readKeySet } from "./key-set.js";
import { fetchKeySet, readKeySetFile } from "./key-set-source.js";

/**
 * Looks whether everything is there that people are known by, and says it in a line.
 *
 * A start does not wait for an issuer, because it may come up later than we do; whoever asks for a check
 * wants to hear that it is not there.
 */
export async function inspectAccess(config: AccessConfig): Promise<string> {
  const said: string[] = [];
  for (const mode of config.modes) {
    if (mode === "none") said.push("none");
    else if (mode === "keys") said.push(`keys (${countKeys(config)})`);
    else for (const issuer of config.issuers) said.push(await inspectIssuer(issuer));
  }
  return said.join(", ");
}

function countKeys({ keys, keyFile }: AccessConfig): number {
  if (keyFile === undefined) return keys.length;
  return keys.length + parseKeyFile(readFileSync(keyFile, "utf8"), keyFile).length;
}

async function inspectIssuer({ issuer, jwks }: AccessConfig["issuers"][number]): Promise<string> {
  const place = typeof jwks === "string" ? jwks : jwks.href;
  try {
    readKeySet(typeof jwks === "string" ? await readKeySetFile(jwks) : await fetchKeySet(jwks));
  } catch (error) {
    throw new TypeError(`the key set of ${issuer} at ${place}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return `jwt (${issuer})`;
}

function reasonOf(error: unknown): string {
  const { code, cause, message } = error as {
    code?: string;
    cause?: { code?: string };
    message: string;
  };
  return cause?.code ?? code ?? message;
}
