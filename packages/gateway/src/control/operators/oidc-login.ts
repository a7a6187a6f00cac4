import { encodeBase64Url, sha256Hex } from "@countersign/core";
import { randomBytes } from "node:crypto";
import * as client from "openid-client";
import { includesRole } from "../../access/operators.js";
import type { Role } from "../../access/operators.js";
import type { Clock } from "../../base/ports.js";
import type { ControlConfig } from "../../config/config.js";
import { LOGIN_SECONDS } from "./cookies.js";

/** The settings of the identity provider. */
export type OidcConfig = NonNullable<ControlConfig["oidc"]>;

/** The result of a login at the identity provider. */
export type OidcResult =
  | { readonly outcome: "known"; readonly name: string; readonly role: Role }
  /** The provider knows the user, but the configuration gives no role. */
  | { readonly outcome: "no-role"; readonly name: string }
  /** The response is not from a login of this browser, was used before, or is too late. */
  | { readonly outcome: "stale" }
  | { readonly outcome: "refused"; readonly reason: string }
  | { readonly outcome: "unavailable"; readonly reason: string };

/** Login by OpenID Connect: authorization code with PKCE, state and nonce. */
export type OidcLogin = {
  /** The name of the provider on the login page. */
  readonly name: string;
  /** Begins a login: the address at the provider, and the secret that binds it to one browser. */
  start(): Promise<{ readonly url: URL; readonly flow: string } | { readonly unavailable: string }>;
  /** Ends the login of a browser by the query that the provider redirected it with. Each login ends once. */
  finish(search: string, flow: string | undefined): Promise<OidcResult>;
};

type Flow = {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly expiresAt: number;
};

/** Logins that have begun and not ended; anybody can begin one, so the oldest is dropped. */
const MAX_FLOWS = 1000;
const TIMEOUT_SECONDS = 10;
const MAX_NAME = 256;

/** Creates the login. The provider is asked at the first login: it may come up later than the gateway. */
export function createOidcLogin(config: OidcConfig, redirect: () => URL, clock: Clock): OidcLogin {
  const flows = new Map<string, Flow>();
  let discovered: Promise<client.Configuration> | undefined;
  const provider = (): Promise<client.Configuration> => {
    discovered ??= discoverProvider(config).catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return discovered;
  };
  return {
    name: config.name,
    start: async () => {
      try {
        const found = await provider();
        const verifier = client.randomPKCECodeVerifier();
        const flow = encodeBase64Url(randomBytes(32));
        const [state, nonce] = [client.randomState(), client.randomNonce()];
        const expiresAt = clock.now() + LOGIN_SECONDS * 1000;
        flows.set(sha256Hex(flow), { state, nonce, verifier, expiresAt });
        const [oldest] = flows.keys();
        if (flows.size > MAX_FLOWS && oldest !== undefined) flows.delete(oldest);
        const url = client.buildAuthorizationUrl(found, {
          redirect_uri: redirect().href,
          scope: config.scopes.join(" "),
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
          state,
          nonce,
        });
        return { url, flow };
      } catch (error) {
        return { unavailable: reasonOf(error) };
      }
    },
    finish: async (search, flow) => {
      const key = flow === undefined ? "" : sha256Hex(flow);
      const begun = flows.get(key);
      // Removed before anything is awaited: a repeated response finds nothing.
      flows.delete(key);
      if (begun === undefined || clock.now() >= begun.expiresAt) return { outcome: "stale" };
      const url = redirect();
      url.search = search;
      try {
        const found = await provider();
        const tokens = await client.authorizationCodeGrant(found, url, {
          pkceCodeVerifier: begun.verifier,
          expectedState: begun.state,
          expectedNonce: begun.nonce,
          idTokenExpected: true,
        });
        return await judge(config, found, tokens);
      } catch (error) {
        return isUnavailable(error)
          ? { outcome: "unavailable", reason: reasonOf(error) }
          : { outcome: "refused", reason: reasonOf(error) };
      }
    },
  };
}

/** Asks the provider for its endpoints and keys. */
export async function discoverProvider(config: OidcConfig): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret } = config;
  const isPlain = issuer.protocol === "http:";
  return client.discovery(
    issuer,
    clientId,
    undefined,
    clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret),
    {
      timeout: TIMEOUT_SECONDS,
      execute: [
        // The configuration allows http for this machine only.
        ...(isPlain ? [client.allowInsecureRequests] : []),
        // Verifies the signature of the ID token, though TLS already names the sender.
        client.enableNonRepudiationChecks,
      ],
    },
  );
}

/** Finds the name and the role of a user in the claims of the ID token, or in those of the userinfo endpoint. */
async function judge(
  config: OidcConfig,
  provider: client.Configuration,
  tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers,
): Promise<OidcResult> {
  const claims = tokens.claims();
  if (claims === undefined) return { outcome: "refused", reason: "the response has no ID token" };
  let all: Claims = claims;
  const { claim, map } = config.roles;
  const isMissing = [claim, config.operatorClaim].some((name) => claimOf(all, name) === undefined);
  if (isMissing && provider.serverMetadata().userinfo_endpoint !== undefined) {
    const info = await client.fetchUserInfo(provider, tokens.access_token, claims.sub);
    all = { ...info, ...claims };
  }
  const name = claimOf(all, config.operatorClaim);
  const isName = typeof name === "string" && name !== "" && name.length <= MAX_NAME;
  if (!isName || !isPrintable(name)) {
    const reason = `the claim ${config.operatorClaim} is not a name of 1 to ${MAX_NAME} printable characters`;
    return { outcome: "refused", reason };
  }
  // Some providers let a user claim any address.
  if (config.operatorClaim === "email" && all["email_verified"] !== true) {
    return { outcome: "refused", reason: "the provider did not verify the e-mail address" };
  }
  const values = [claimOf(all, claim)].flat();
  let role: Role | undefined;
  for (const value of values) {
    const found = typeof value === "string" ? map.get(value) : undefined;
    if (found !== undefined && (role === undefined || includesRole(found, role))) role = found;
  }
  return role === undefined
    ? { outcome: "no-role", name: `oidc:${name}` }
    : { outcome: "known", name: `oidc:${name}`, role };
}

type Claims = Readonly<Record<string, unknown>>;

/** A claim by its name; a name with dots that is not itself a claim is a path, as in `realm_access.roles`. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

function isPrintable(text: string): boolean {
  return !/[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

/** Whether the provider did not answer, rather than refused. */
function isUnavailable(error: unknown): boolean {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } };
  return name === "TimeoutError" || (error instanceof TypeError && cause?.code !== undefined);
}

/** A code of the library or of the system; never text of the provider or a token. */
function reasonOf(error: unknown): string {
  const {
    code,
    cause,
    name,
    error: refusal,
  } = error as {
    code?: unknown;
    name?: string;
    error?: unknown;
    cause?: { code?: unknown };
  };
  const known = [
    typeof refusal === "string" && /^[a-z_]{1,64}$/u.test(refusal) && refusal,
    cause?.code,
    code,
  ];
  return String(known.find((one) => typeof one === "string") ?? name ?? "unknown");
}
