import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { CryptoKey, JWK, JWTPayload } from "jose";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Authenticator } from "../access/access.js";
import { createJwtAuthenticator } from "../access/jwt.js";
import type { JwtOptions } from "../access/jwt.js";
import { createKeySet, fetchKeySet } from "../access/key-set.js";
import { SYSTEM_CLOCK } from "../base/ports.js";

/** A signing key of a test identity provider. */
export type IdentityKey = {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
};

/** A small identity provider: a real server with a real key set. */
export type Identity = {
  readonly issuer: string;
  readonly jwksUrl: URL;
  /** The number of fetches of the key set. */
  readonly fetches: () => number;
  /** Replaces the server's response; `undefined` restores the key set. */
  answer(listener: RequestListener | undefined): void;
  /** Replaces the keys. */
  publish(...keys: JWK[]): void;
  /** A token for a subject, valid for an hour unless the claims say otherwise. */
  token(subject: string, claims?: JWTPayload, key?: IdentityKey): Promise<string>;
  /** An authenticator for the tokens of this provider. */
  authenticator(
    options?: Partial<JwtOptions> & {
      timeoutMs?: number;
      cooldownMs?: number;
      cacheMs?: number;
      staleMs?: number;
    },
  ): Authenticator;
  stop(): Promise<void>;
};

/** The audience of this gateway in tests. */
export const AUDIENCE = "countersign-test";

/** Creates a key. */
export async function createIdentityKey(kid: string, algorithm = "ES256"): Promise<IdentityKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm } };
}

/** Starts a provider with one key. */
export async function startIdentity(): Promise<Identity> {
  const first = await createIdentityKey("first");
  let keys: JWK[] = [first.jwk];
  let fetches = 0;
  let listener: RequestListener | undefined;
  const server = createServer((request, response) => {
    fetches += 1;
    if (listener !== undefined) return void listener(request, response);
    return void response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const jwksUrl = new URL(`${issuer}/jwks.json`);
  return {
    issuer,
    jwksUrl,
    fetches: () => fetches,
    answer: (replacement) => {
      listener = replacement;
    },
    publish: (...published) => {
      keys = published;
    },
    token: (subject, claims = {}, key = first) => {
      const now = Math.floor(Date.now() / 1000);
      const payload = { iss: issuer, aud: AUDIENCE, sub: subject, exp: now + 3600, ...claims };
      return new SignJWT(payload)
        .setProtectedHeader({ alg: key.jwk.alg ?? "ES256", kid: key.kid })
        .sign(key.privateKey);
    },
    authenticator: (options = {}) => {
      const clock = options.clock ?? SYSTEM_CLOCK;
      return createJwtAuthenticator({
        issuer,
        audience: [AUDIENCE],
        algorithms: ["ES256", "RS256"],
        toleranceMs: 0,
        principalClaim: "sub",
        scopes: [],
        clock,
        keys: createKeySet({
          issuer,
          clock,
          load: () =>
            fetchKeySet(jwksUrl, { timeoutMs: options.timeoutMs ?? 10_000, maxBytes: 16_384 }),
          cacheMs: options.cacheMs ?? 600_000,
          cooldownMs: options.cooldownMs ?? 30_000,
          staleMs: options.staleMs ?? 3_600_000,
        }),
        ...options,
      });
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
