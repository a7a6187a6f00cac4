import type { AccessConfig } from "../config/config.js";
import type { Clock, Journal } from "../base/ports.js";
import { createAccess, OPEN_ACCESS } from "../access/access.js";
import type { Access, Authenticator } from "../access/access.js";
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

/** Creates the access control of a configuration. */
export function openAccess(config: AccessConfig, clock: Clock, journal: Journal): Access {
  const { modes } = config;
  // If no credential is required, none is checked.
  if (modes.every((mode) => mode === "none")) return OPEN_ACCESS;
  const authenticators = modes.flatMap((mode): Authenticator[] => {
    if (mode === "none") return [];
    return mode === "jwt" ? issuersOf(config, clock, journal) : keysOf(config, clock, journal);
  });
  return createAccess(authenticators, { allowAnonymous: modes.includes("none") });
}

function issuersOf({ issuers }: AccessConfig, clock: Clock, journal: Journal): Authenticator[] {
  return issuers.map(({ jwks, cacheMs, staleMs, ...rest }) => {
    const isFile = typeof jwks === "string";
    const keyOf = createKeySet({
      issuer: rest.issuer,
      clock,
      load: () => (isFile ? readKeySetFile(jwks) : fetchKeySet(jwks)),
      cacheMs: isFile ? FILE_CACHE_MS : cacheMs,
      cooldownMs: isFile ? FILE_COOLDOWN_MS : COOLDOWN_MS,
      staleMs,
      onAvailabilityChange: (failure) => {
        const facts = {
          issuer: rest.issuer,
          jwks: isFile ? jwks : `${jwks.origin}${jwks.pathname}`,
        };
        if (failure === undefined) journal.info(facts, "the issuer's keys can be fetched again");
        else journal.warn({ ...facts, reason: reasonOf(failure) }, ISSUER_UNREACHABLE);
      },
    });
    return createJwtAuthenticator({ ...rest, keyOf, clock });
  });
}

function keysOf(config: AccessConfig, clock: Clock, journal: Journal): Authenticator[] {
  const { keys, keyFile } = config;
  const found = keys.length === 0 ? [] : [createKeyAuthenticator(() => keys)];
  if (keyFile === undefined) return found;
  return [...found, createKeyAuthenticator(createKeyFile(keyFile, clock, journal))];
}
