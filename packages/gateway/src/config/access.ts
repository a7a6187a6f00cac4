import { parseUrl } from "@countersign/core";
import { choice, closed, flag, list, text } from "@countersign/policy/yaml";
import type { JsonSchema } from "@countersign/policy/yaml";
import { ALGORITHMS } from "../access/jwt.js";
import type { AccessConfig, AccessMode } from "./config.js";

/** The `access` block as it is written. */
export type AccessBlock = {
  mode: AccessMode | AccessMode[];
  jwt?: JwtBlock | JwtBlock[];
  keys?: { entries?: Record<string, string>; file?: string };
  i_understand_that_anyone_can_connect?: boolean;
};

type JwtBlock = {
  issuer: string;
  audience?: string | string[];
  client_ids?: string | string[];
  jwks: string;
  algorithms?: string[];
  clock_tolerance?: number;
  principal_claim?: string;
  scopes?: string[];
  jwks_cache?: number;
  jwks_max_stale?: number;
};

const MODES = ["jwt", "keys", "none"] as const;
const mode = choice("How people are known", MODES);
const audience = text("The name this gateway has at the issuer", 512);
const clientId = text("An application of the issuer", 512);

/** The schema of a time; a day at most, unless given. */
export function seconds(description: string, minimum = 0.1, maximum = 86_400): JsonSchema {
  return { type: "number", description, minimum, maximum };
}

const jwt = closed(
  "Bearer tokens (JWT) of one issuer",
  {
    issuer: { ...text("The iss of its tokens", 512), pattern: "^\\S+$" },
    audience: { oneOf: [audience, list("Several names; aud must have one", audience, 16)] },
    client_ids: {
      oneOf: [clientId, list("Applications; client_id must name one", clientId, 64)],
    },
    jwks: text("Its key set: an https:// address or a path", 2048),
    algorithms: list("Signatures that count", choice("Algorithm", ALGORITHMS), ALGORITHMS.length),
    clock_tolerance: seconds("Seconds clocks may differ; 5 when left out", 0, 300),
    principal_claim: text("The claim that names the person; sub when left out", 128),
    scopes: list(
      "Scopes a token must all have",
      { ...text("Scope", 128), pattern: "^[!#-\\[\\]-~]+$" },
      32,
    ),
    jwks_cache: seconds("Seconds until the key set is fetched again; 600 when left out", 1, 86_400),
    jwks_max_stale: seconds(
      "Seconds the last good key set serves through an outage; 3600 when left out",
      0,
      604_800,
    ),
  },
  ["issuer", "jwks"],
);

/** The schema of `access`. */
export const ACCESS_SCHEMA: JsonSchema = closed(
  "Who may connect",
  {
    mode: { oneOf: [mode, list("Several ways, asked in order", mode, MODES.length)] },
    jwt: { oneOf: [jwt, list("Several issuers", jwt, 16)] },
    keys: closed("API keys; only their hashes stand here", {
      entries: {
        type: "object",
        description: "The hash of a key, sha256:HEX, under its holder's name",
        additionalProperties: {
          ...text("sha256: and 64 hex digits, as `countersign keys api` prints it", 71),
          pattern: "^sha256:[0-9a-f]{64}$",
        },
        maxProperties: 1000,
      },
      file: text("Path of a file of lines NAME sha256:HEX; followed while the gateway runs", 4096),
    }),
    i_understand_that_anyone_can_connect: flag("Lets mode none listen beyond this machine", false),
  },
  ["mode"],
);

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Whether an address is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOST.test(host);
}

/** Rules about access that the schema cannot express. */
export function checkAccess(
  block: AccessBlock | undefined,
  context: { readonly host: string; readonly origins: readonly string[] },
  issue: (pointer: string, message: string) => void,
): void {
  const modes: readonly AccessMode[] = block === undefined ? ["none"] : asList(block.mode);
  if (modes.length === 0) issue("/access/mode", "mode needs at least one way");
  if (modes.includes("none")) {
    if (!isLoopback(context.host) && block?.i_understand_that_anyone_can_connect !== true) {
      issue(
        block === undefined ? "/listen/host" : "/access/mode",
        `anyone who reaches ${context.host} could connect; add access with mode jwt or keys, listen on 127.0.0.1, or set access.i_understand_that_anyone_can_connect: true`,
      );
    }
    if (context.origins.includes("*")) {
      issue(
        "/origins",
        "every page of every browser could connect; list the origins, or ask for credentials",
      );
    }
  }
  if (modes.includes("jwt") && asList(block?.jwt).length === 0) {
    issue("/access", "mode jwt needs the block jwt with issuer, jwks, and audience or client_ids");
  }
  const { entries, file } = block?.keys ?? {};
  if (modes.includes("keys") && Object.keys(entries ?? {}).length === 0 && file === undefined) {
    issue(
      "/access",
      "mode keys needs keys.entries or keys.file; `countersign keys api NAME` makes a key",
    );
  }
  asList(block?.jwt).forEach(({ jwks, audience: names, client_ids: clients }, index) => {
    const place = Array.isArray(block?.jwt) ? `/access/jwt/${index}` : "/access/jwt";
    const at = `${place}/jwks`;
    if (asList(names).length + asList(clients).length === 0) {
      issue(
        place,
        "jwt needs audience or client_ids; a token that the issuer made for any other application would count here",
      );
    }
    if (!jwks.includes("://")) return;
    const url = parseUrl(jwks);
    const isSafe =
      url?.protocol === "https:" ||
      (url?.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/g, "")));
    if (!isSafe)
      issue(
        at,
        "jwks must be an https:// address or a path: over http:// an attacker on the network could replace the keys",
      );
  });
}

/** Rejects an origin that no browser ever sends: listing it would have no effect. */
export function checkOrigins(
  origins: readonly string[],
  issue: (pointer: string, message: string) => void,
): void {
  origins.forEach((origin, index) => {
    if (origin === "*" || parseUrl(origin)?.origin === origin) return;
    issue(`/origins/${index}`, "an origin is scheme and host, such as https://app.example");
  });
}

/** Fills in the defaults of the block. */
export function resolveAccess(
  block: AccessBlock | undefined,
  path: (value: string) => string,
): AccessConfig {
  const entries = Object.entries(block?.keys?.entries ?? {});
  return {
    modes: block === undefined ? ["none"] : asList(block.mode),
    issuers: asList(block?.jwt).map((jwtBlock) => ({
      issuer: jwtBlock.issuer,
      audience: asList(jwtBlock.audience),
      clientIds: asList(jwtBlock.client_ids),
      jwks: jwtBlock.jwks.includes("://") ? new URL(jwtBlock.jwks) : path(jwtBlock.jwks),
      algorithms: jwtBlock.algorithms ?? ALGORITHMS,
      toleranceMs: (jwtBlock.clock_tolerance ?? 5) * 1000,
      principalClaim: jwtBlock.principal_claim ?? "sub",
      scopes: jwtBlock.scopes ?? [],
      cacheMs: (jwtBlock.jwks_cache ?? 600) * 1000,
      staleMs: (jwtBlock.jwks_max_stale ?? 3600) * 1000,
    })),
    keys: entries.map(([name, hash]) => ({ name, hash })),
    keyFile: block?.keys?.file === undefined ? undefined : path(block.keys.file),
  };
}

function asList<Item>(value: Item | Item[] | undefined): Item[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
