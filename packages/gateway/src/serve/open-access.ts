import type { AccessConfig } from "../config/config.js";
import type { Clock, Journal } from "../base/ports.js";
import { createAccess, OPEN_ACCESS } from "../access/access.js";
import type { Access, Authenticator } from "../access/access.js";
import type { KeySet } from "../access/key-set.js";
import { createKeyAuthenticator } from "../access/api-keys.js";
import { createJwtAuthenticator } from "../access/jwt.js";
import { createKeyFile } from "../access/key-file.js";
import { createKeySet, fetchKeySet, readKeySetFile } from "../access/key-set.js";

const COOLDOWN_MS = 30_000;
/** Reading a file is cheap, and an operator who changed it expects to see the effect. */
const FILE_CACHE_MS = 5000;
const FILE_COOLDOWN_MS = 1000;

const ISSUER_UNREACHABLE =
  "the issuer's keys could not be fetched; the last valid ones are used for jwks_cache and jwks_max_stale, then every token is rejected";

/** `fetch` hides the reason in its cause. */
function reasonOf(failure: Error): string {
  const { cause } = failure as { cause?: { code?: unknown } };
  return cause?.code === undefined ? failure.message : `${failure.message}: ${String(cause.code)}`;
}

/** The key set of one issuer. */
export type IssuerKeys = Pick<KeySet, "isStale"> & { readonly issuer: string };

/** Access control, with the key sets that it fetches. */
export type OpenAccess = { readonly access: Access; readonly keySets: readonly IssuerKeys[] };

/** Creates the access control of a configuration. */
export function openAccess(config: AccessConfig, clock: Clock, journal: Journal): OpenAccess {
  const { modes } = config;
  // If no credential is required, none is checked.
  if (modes.every((mode) => mode === "none")) return { access: OPEN_ACCESS, keySets: [] };
  const issuers = modes.includes("jwt") ? issuersOf(config, clock, journal) : [];
  const authenticators = modes.flatMap((mode): Authenticator[] => {
    if (mode === "none") return [];
    return mode === "jwt"
      ? issuers.map(({ authenticator }) => authenticator)
      : keysOf(config, clock, journal);
  });
  const access = createAccess(authenticators, { allowAnonymous: modes.includes("none") });
  return { access, keySets: issuers.map(({ keySet }) => keySet) };
}

function issuersOf(
  { issuers }: AccessConfig,
  clock: Clock,
  journal: Journal,
): { authenticator: Authenticator; keySet: IssuerKeys }[] {
  return issuers.map(({ jwks, cacheMs, staleMs, ...rest }) => {
    const isFile = typeof jwks === "string";
    const { issuer } = rest;
    const keys = createKeySet({
      issuer,
      clock,
      load: () => (isFile ? readKeySetFile(jwks) : fetchKeySet(jwks)),
      cacheMs: isFile ? FILE_CACHE_MS : cacheMs,
      cooldownMs: isFile ? FILE_COOLDOWN_MS : COOLDOWN_MS,
      staleMs,
      onAvailabilityChange: (failure) => {
        const facts = {
          issuer,
          jwks: isFile ? jwks : `${jwks.origin}${jwks.pathname}`,
        };
        if (failure === undefined) journal.info(facts, "the issuer's keys can be fetched again");
        else journal.warn({ ...facts, reason: reasonOf(failure) }, ISSUER_UNREACHABLE);
      },
    });
    const keySet: IssuerKeys = {
      issuer,
      get isStale() {
        return keys.isStale;
      },
    };
    return { authenticator: createJwtAuthenticator({ ...rest, keys, clock }), keySet };
  });
}

function keysOf(config: AccessConfig, clock: Clock, journal: Journal): Authenticator[] {
  const { keys, keyFile } = config;
  const found = keys.length === 0 ? [] : [createKeyAuthenticator(() => keys)];
  if (keyFile === undefined) return found;
  return [...found, createKeyAuthenticator(createKeyFile(keyFile, clock, journal))];
}
