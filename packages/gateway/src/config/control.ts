import { parseUrl } from "@countersign/core";
import { choice, closed, flag, list, text } from "@countersign/policy/yaml";
import type { JsonSchema } from "@countersign/policy/yaml";
import { existsSync } from "node:fs";
import { operatorNameProblem, ROLES } from "../access/operators.js";
import type { Role } from "../access/operators.js";
import { readRegularFile } from "../base/files.js";
import { isLoopback, seconds } from "./access.js";
import type { ControlConfig } from "./config.js";
import { expand, invalid } from "./reading.js";
import type { Reading } from "./reading.js";

/** The `control` block as it is written. */
export type ControlBlock = {
  host?: string;
  port?: number;
  console?: boolean;
  operators?: { name: string; role: Role; token: string }[];
  operators_file?: string;
  sessions?: { idle?: number; longest?: number };
  oidc?: OidcBlock;
  tls?: { cert: string; key: string; client_ca?: string };
  mtls?: { operators: Record<string, Role>; required?: boolean };
  i_understand_that_the_admin_token_travels_in_clear?: boolean;
};

type OidcBlock = {
  issuer: string;
  client_id: string;
  client_secret?: string;
  client_secret_file?: string;
  redirect?: string;
  scopes?: string[];
  operator_claim?: string;
  roles: { claim: string; map: Record<string, Role> };
  name?: string;
};

const role = choice("viewer, operator or admin", ROLES);
const path = (description: string): JsonSchema => text(description, 4096);

const oidc = closed(
  "Login of operators at an identity provider, OpenID Connect",
  {
    issuer: text("Address of the provider, https://; its discovery document is below it", 2048),
    client_id: text("Id of the gateway at the provider", 512),
    client_secret: text(
      "Secret of the gateway at the provider; ${NAME} takes the value of an environment variable",
      2048,
    ),
    client_secret_file: path("Path of a file with the secret"),
    redirect: text(
      "Public address of /v1/login/oidc/callback; that of the control listener when left out",
      2048,
    ),
    scopes: list(
      "Scopes that are asked for; openid, profile and email when left out",
      text("Scope", 128),
      32,
    ),
    operator_claim: text("The claim that names the operator; sub when left out", 128),
    roles: closed(
      "Which users have which role",
      {
        claim: text(
          "The claim with the groups of a user, such as groups or realm_access.roles",
          128,
        ),
        map: {
          type: "object",
          description: "The role of each group; a user without one is refused",
          additionalProperties: role,
          maxProperties: 256,
        },
      },
      ["claim", "map"],
    ),
    name: text("Name of the provider on the login page; its host when left out", 64),
  },
  ["issuer", "client_id", "roles"],
);

/** The schema of `control`, with the schema of a port. */
export function controlSchema(port: JsonSchema): JsonSchema {
  return closed("Where operators connect", {
    host: text("Address to bind"),
    port,
    console: flag("Whether the web console is served, at /console", true),
    operators: list(
      "Operators with tokens of their own; only hashes stand here",
      closed(
        "One operator",
        {
          name: text("Name in receipts", 128),
          role,
          token: {
            ...text("sha256: and 64 hex digits, as `countersign operators add` prints it", 71),
            pattern: "^sha256:[0-9a-f]{64}$",
          },
        },
        ["name", "role", "token"],
      ),
      1000,
    ),
    operators_file: path(
      "Path of a file of lines NAME ROLE sha256:HEX; followed while the gateway runs",
    ),
    sessions: closed("How long a login in a browser lasts", {
      idle: seconds("Seconds without a request; 1800 when left out", 60),
      longest: seconds("Seconds since the login; 43200 when left out", 60),
    }),
    oidc,
    tls: closed(
      "Certificate and key in PEM; read again when they change",
      {
        cert: path("Path of the certificate chain"),
        key: path("Path of the private key"),
        client_ca: path("Path of the certificates that sign client certificates (mTLS)"),
      },
      ["cert", "key"],
    ),
    mtls: closed(
      "Operators with client certificates; needs tls.client_ca",
      {
        operators: {
          type: "object",
          description: "The role of each subject, by the common name (CN) of its certificate",
          additionalProperties: role,
          maxProperties: 1000,
        },
        required: flag("Whether a connection without a valid certificate is refused", false),
      },
      ["operators"],
    ),
    i_understand_that_the_admin_token_travels_in_clear: flag(
      "Lets the control plane listen beyond this machine without TLS",
      false,
    ),
  });
}

/** Rules about the control plane that the schema cannot express. */
export function checkControl(
  block: ControlBlock,
  host: string,
  issue: (pointer: string, message: string) => void,
): void {
  const allowsCleartext = block.i_understand_that_the_admin_token_travels_in_clear === true;
  if (block.tls === undefined && !isLoopback(host) && !allowsCleartext) {
    issue(
      "/control/host",
      `tokens of operators would travel to ${host} without TLS. Fix: set control.tls, keep 127.0.0.1 and put a TLS proxy or a tunnel in front, or set control.i_understand_that_the_admin_token_travels_in_clear: true`,
    );
  }
  if (block.mtls !== undefined && block.tls?.client_ca === undefined) {
    issue("/control/mtls", "mtls needs control.tls with client_ca, which signs the certificates");
  }
  if (block.tls?.client_ca !== undefined && block.mtls === undefined) {
    issue(
      "/control/tls/client_ca",
      "client_ca needs control.mtls.operators, which gives subjects their roles",
    );
  }
  const { idle, longest } = timesOf(block);
  if (idle > longest) {
    issue("/control/sessions/idle", `idle (${idle}) is longer than longest (${longest})`);
  }
  const names = new Set<string>();
  block.operators?.forEach(({ name }, index) => {
    const problem = names.has(name) ? `${name} is listed twice` : operatorNameProblem(name);
    if (problem !== undefined) issue(`/control/operators/${index}/name`, problem);
    names.add(name);
  });
  if (block.oidc !== undefined) checkOidc(block.oidc, issue);
}

/** The end of the address that the provider redirects to. */
export const CALLBACK_PATH = "/v1/login/oidc/callback";

function checkOidc(block: OidcBlock, issue: (pointer: string, message: string) => void): void {
  if (!isSafe(block.issuer)) {
    issue(
      "/control/oidc/issuer",
      "issuer must be an https:// address: over http:// an attacker on the network could log in as anybody",
    );
  }
  const { redirect } = block;
  if (redirect !== undefined) {
    const isPlain = /^https?:$/u.test(parseUrl(redirect)?.protocol ?? "");
    if (!isPlain || parseUrl(redirect)?.pathname !== CALLBACK_PATH) {
      issue(
        "/control/oidc/redirect",
        `redirect is an https:// address that ends with ${CALLBACK_PATH}`,
      );
    } else if (!isSafe(redirect)) {
      issue("/control/oidc/redirect", "redirect must be https://: the code would travel in clear");
    }
  }
  if (block.client_secret !== undefined && block.client_secret_file !== undefined) {
    issue("/control/oidc/client_secret_file", "give client_secret or client_secret_file, not both");
  }
  if (block.scopes !== undefined && !block.scopes.includes("openid")) {
    issue("/control/oidc/scopes", "scopes must include openid");
  }
  if (Object.keys(block.roles.map).length === 0) {
    issue("/control/oidc/roles/map", "map needs at least one group; nobody could log in");
  }
}

/** Whether an address is https, or http of this machine. */
function isSafe(address: string): boolean {
  const url = parseUrl(address);
  return (
    url?.protocol === "https:" ||
    (url?.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/gu, "")))
  );
}

/** Seconds without a request, and since the login. */
function timesOf({ sessions }: ControlBlock): { readonly idle: number; readonly longest: number } {
  const longest = sessions?.longest ?? 43_200;
  return { idle: sessions?.idle ?? Math.min(1800, longest), longest };
}

/** Fills in the defaults of the block. */
export function resolveControl(
  block: ControlBlock,
  standard: { readonly host: string; readonly port: number },
  resolvePath: (value: string) => string,
  options: Reading,
): ControlConfig {
  const { idle, longest } = timesOf(block);
  const { tls, mtls } = block;
  return {
    host: block.host ?? standard.host,
    port: block.port ?? standard.port,
    console: block.console ?? true,
    operators: (block.operators ?? []).map(({ name, role: given, token }) => ({
      name,
      role: given,
      hash: token,
    })),
    operatorsFile:
      block.operators_file === undefined ? undefined : resolvePath(block.operators_file),
    sessions: { idleMs: idle * 1000, longestMs: longest * 1000 },
    oidc: block.oidc === undefined ? undefined : resolveOidc(block.oidc, resolvePath, options),
    tls:
      tls === undefined
        ? undefined
        : {
            cert: resolvePath(tls.cert),
            key: resolvePath(tls.key),
            ...(tls.client_ca === undefined ? {} : { clientCa: resolvePath(tls.client_ca) }),
          },
    certificates: new Map(Object.entries(mtls?.operators ?? {})),
    requiresCertificate: mtls?.required ?? false,
  };
}

function resolveOidc(
  block: OidcBlock,
  resolvePath: (value: string) => string,
  options: Reading,
): NonNullable<ControlConfig["oidc"]> {
  const issuer = new URL(block.issuer);
  return {
    issuer,
    clientId: block.client_id,
    clientSecret: secretOf(block, resolvePath, options),
    redirect: block.redirect === undefined ? undefined : new URL(block.redirect),
    scopes: block.scopes ?? ["openid", "profile", "email"],
    operatorClaim: block.operator_claim ?? "sub",
    roles: { claim: block.roles.claim, map: new Map(Object.entries(block.roles.map)) },
    name: block.name ?? issuer.host,
  };
}

const MAX_SECRET_BYTES = 16 * 1024;

function secretOf(
  { client_secret: written, client_secret_file: file }: OidcBlock,
  resolvePath: (value: string) => string,
  options: Reading,
): string | undefined {
  if (written !== undefined) return expand(written, options, "/control/oidc/client_secret");
  if (file === undefined) return undefined;
  const place = resolvePath(file);
  const secret = existsSync(place)
    ? readRegularFile(place, MAX_SECRET_BYTES).toString("utf8").trim()
    : "";
  if (secret !== "") return secret;
  const at = options.issue("/control/oidc/client_secret_file", `${place} is missing or empty`);
  throw invalid(options.file, [at]);
}
