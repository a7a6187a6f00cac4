import type { AccessConfig } from "../config/config.js";
import { readKeyFile } from "../access/key-file.js";
import { readKeySet } from "../access/key-set.js";
import { fetchKeySet, readKeySetFile } from "../access/key-set-source.js";

/** What people are known by, and the issuers that are out of reach. */
export type AccessReport = { readonly said: readonly string[]; readonly away: readonly string[] };

/**
 * Looks whether everything is there that people are known by.
 *
 * A start does not wait for an issuer, because it may come up later than we do; whoever asks wants to hear
 * that it is not there. A file that is not there is a mistake.
 */
export async function inspectAccess(config: AccessConfig): Promise<AccessReport> {
  const said: string[] = [];
  const away: string[] = [];
  for (const mode of config.modes) {
    if (mode === "none") said.push("none");
    else if (mode === "keys") said.push(`keys (${countKeys(config)})`);
    else for (const issuer of config.issuers) await inspectIssuer(issuer, said, away);
  }
  return { said, away };
}

function countKeys({ keys, keyFile }: AccessConfig): number {
  if (keyFile === undefined) return keys.length;
  return keys.length + readKeyFile(keyFile).length;
}

async function inspectIssuer(
  { issuer, jwks }: AccessConfig["issuers"][number],
  said: string[],
  away: string[],
): Promise<void> {
  const isFile = typeof jwks === "string";
  try {
    readKeySet(isFile ? await readKeySetFile(jwks) : await fetchKeySet(jwks));
    said.push(`jwt (${issuer})`);
  } catch (error) {
    const problem = `the key set of ${issuer} at ${isFile ? jwks : jwks.href}: ${reasonOf(error)}`;
    if (isFile) throw new TypeError(problem, { cause: error });
    away.push(problem);
  }
}

function reasonOf(error: unknown): string {
  const { code, cause, message } = error as {
    code?: string;
    cause?: { code?: string };
    message: string;
  };
  return cause?.code ?? code ?? message;
}
