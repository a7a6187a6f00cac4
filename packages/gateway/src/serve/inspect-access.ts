import type { AccessConfig, ControlConfig } from "../config/config.js";
import { existsSync } from "node:fs";
import { missingList, readOperatorsFile } from "../access/operators.js";
import { discoverProvider } from "../control/operators/oidc-login.js";
import { readKeyFile } from "../access/key-file.js";
import { readKeySet, fetchKeySet, readKeySetFile } from "../access/key-set.js";

/** The authentication methods, and the issuers that cannot be reached. */
export type AccessReport = { readonly said: readonly string[]; readonly away: readonly string[] };

/**
 * Checks that every source of credentials is available.
 *
 * A start does not wait for an issuer, because it may come up later than the gateway; a check reports it. A missing
 * file is an error.
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

/**
 * Checks the credentials of operators: the file must be valid; a provider that does not respond is only reported,
 * because it may come up later.
 */
export async function inspectOperators(config: ControlConfig): Promise<AccessReport> {
  const { operators, operatorsFile: file, oidc, certificates } = config;
  if (file !== undefined && !existsSync(file)) throw missingList(file);
  const listed = operators.length + (file === undefined ? 0 : readOperatorsFile(file).length);
  const said = ["the admin token", ...(listed === 0 ? [] : [`tokens (${listed})`])];
  if (certificates.size > 0) said.push(`certificates (${certificates.size})`);
  if (oidc === undefined) return { said, away: [] };
  try {
    await discoverProvider(oidc);
    return { said: [...said, `oidc (${oidc.issuer.href})`], away: [] };
  } catch (error) {
    return { said, away: [`the identity provider ${oidc.issuer.href}: ${reasonOf(error)}`] };
  }
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
