import { isCountersignError } from "@countersign/core";
import { createFakeClock } from "@countersign/testkit";
import * as fc from "fast-check";
import { exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createIdentityKey, startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";
import { createAccess, MAX_TOKEN_LENGTH } from "./access.js";
import type { Access } from "./access.js";

let identity: Identity;
let access: Access;
beforeAll(async () => {
  identity = await startIdentity();
  access = createAccess([identity.authenticator()]);
});
afterAll(() => identity.stop());

/** The fault for which a token is rejected. */
async function faultOf(token: string, by: Access = access): Promise<string> {
  try {
    await by.authenticate(token);
  } catch (error) {
    if (isCountersignError(error, "ERR_ACCESS_TOKEN")) {
      // The message must not repeat any part of the token.
      if (token.length > 20 && error.message.includes(token.slice(0, 12))) return "told";
      return error.facts.reason;
    }
    if (isCountersignError(error)) return error.code;
    throw error;
  }
  return "accepted";
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const seconds = (): number => Math.floor(Date.now() / 1000);

test("a valid token yields its subject together with its issuer, and its expiry", async () => {
  const exp = seconds() + 60;
  const grant = await access.authenticate(await identity.token("alice", { exp }));
  expect(grant.principal).toEqual({ id: `jwt:${identity.issuer} alice`, expiresAt: exp * 1000 });
  expect(grant.isValid()).toBe(true);
});

test("expired, not yet valid, foreign and incomplete tokens are each rejected for their own fault", async () => {
  const now = seconds();
  const faults = {
    expired: { exp: now - 1 },
    "not-yet-valid": { nbf: now + 60 },
    audience: { aud: "somebody-else" },
    unknown: { iss: "https://other.example" },
  };
  for (const [fault, claims] of Object.entries(faults)) {
    expect(await faultOf(await identity.token("alice", claims))).toBe(fault);
  }
  const forever = await new SignJWT({ iss: identity.issuer, aud: "countersign-test", sub: "a" })
    .setProtectedHeader({ alg: "ES256", kid: "first" })
    .sign((await createIdentityKey("first")).privateKey);
  expect(await faultOf(forever)).toBe("signature");
});

test("a token without aud is accepted for a listed client_id only", async () => {
  const by = createAccess([identity.authenticator({ audience: [], clientIds: ["app", "other"] })]);
  const claims = { aud: undefined, client_id: "app", token_use: "access" } as never;
  expect((await by.authenticate(await identity.token("alice", claims))).isValid()).toBe(true);
  for (const client_id of [undefined, "APP", "app ", "third", ["app"], { app: 1 }, ""]) {
    const token = await identity.token("alice", { aud: "app", client_id } as never);
    expect([client_id, await faultOf(token, by)]).toEqual([client_id, "client"]);
  }
});

test("with both audience and client ids configured, a token must match both", async () => {
  const by = createAccess([identity.authenticator({ clientIds: ["app"] })]);
  expect(await faultOf(await identity.token("a", { client_id: "app" }), by)).toBe("accepted");
  expect(await faultOf(await identity.token("a"), by)).toBe("client");
  const foreign = { client_id: "app", aud: "somebody-else" };
  expect(await faultOf(await identity.token("a", foreign), by)).toBe("audience");
  const bare = { client_id: "app", aud: undefined } as never;
  expect(await faultOf(await identity.token("a", bare), by)).toBe("audience");
  expect(() => identity.authenticator({ audience: [] })).toThrow(TypeError);
});

test("a token without an expiry, or whose subject is missing or unprintable, is rejected", async () => {
  expect(await faultOf(await identity.token("alice", { exp: undefined } as never))).toBe("claim");
  for (const sub of ["", "a\nb", "x".repeat(257)]) {
    expect(await faultOf(await identity.token(sub))).toBe("claim");
  }
  const numbered = await identity.token("x", { sub: 7 } as never);
  expect(["claim", "malformed"]).toContain(await faultOf(numbered));
});

test("alg none, in any spelling, is refused", async () => {
  const unsecured = new UnsecuredJWT({ iss: identity.issuer, aud: "countersign-test", sub: "a" })
    .setExpirationTime("1h")
    .encode();
  expect(await faultOf(unsecured)).not.toBe("accepted");
  const payload = encode({
    iss: identity.issuer,
    aud: "countersign-test",
    sub: "a",
    exp: seconds() + 60,
  });
  for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
    for (const signature of ["", "AAAA"]) {
      expect(await faultOf(`${encode({ alg, kid: "first" })}.${payload}.${signature}`)).not.toBe(
        "accepted",
      );
    }
  }
});

test("the issuer's public key used as a shared secret is refused", async () => {
  const rsa = await generateKeyPair("RS256", { extractable: true });
  const pem = await exportSPKI(rsa.publicKey);
  const forged = await new SignJWT({ iss: identity.issuer, aud: "countersign-test", sub: "a" })
    .setProtectedHeader({ alg: "HS256", kid: "first" })
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(pem));
  expect(await faultOf(forged)).toBe("algorithm");
});

test("keys that a token brings along, or names elsewhere, are never used", async () => {
  const mine = await createIdentityKey("first");
  for (const extra of [
    { jwk: mine.jwk },
    { jku: "https://evil.example/jwks.json" },
    { x5u: "https://evil.example/cert.pem" },
    { kid: "../../etc/passwd" },
    { kid: "' OR 1=1 --" },
  ]) {
    const forged = await new SignJWT({ iss: identity.issuer, aud: "countersign-test", sub: "a" })
      .setProtectedHeader({ alg: "ES256", kid: "first", ...extra })
      .setExpirationTime("1h")
      .sign(mine.privateKey);
    expect(["signature", "key"]).toContain(await faultOf(forged));
  }
});

test("a shared secret inside a published key set cannot be used to sign", async () => {
  const other = await startIdentity();
  const secret = {
    kty: "oct",
    k: Buffer.from("0123456789abcdef0123456789abcdef").toString("base64url"),
    kid: "s",
    alg: "HS256",
  };
  other.publish(secret);
  const forged = await new SignJWT({ iss: other.issuer, aud: "countersign-test", sub: "a" })
    .setProtectedHeader({ alg: "HS256", kid: "s" })
    .setExpirationTime("1h")
    .sign((await importJWK(secret)) as Uint8Array);
  const lenient = createAccess([other.authenticator({ algorithms: ["HS256", "ES256"] })]);
  expect(["key", "malformed"]).toContain(await faultOf(forged, lenient));
  await other.stop();
});

test("two issuers never share a principal, and neither can issue for the other", async () => {
  const other = await startIdentity();
  const both = createAccess([identity.authenticator(), other.authenticator()]);
  const first = await both.authenticate(await identity.token("alice"));
  const second = await both.authenticate(await other.token("alice"));
  expect(first.principal.id).not.toBe(second.principal.id);
  expect(await faultOf(await identity.token("alice", { iss: other.issuer }), both)).not.toBe(
    "accepted",
  );
  await other.stop();
});

test("a claim other than sub may name the principal, and scopes may be required", async () => {
  const strict = createAccess([
    identity.authenticator({ principalClaim: "email", scopes: ["chat", "run"] }),
  ]);
  const claims = { email: "alice@example.org" };
  const good = await strict.authenticate(
    await identity.token("x", { ...claims, scope: "run other chat" }),
  );
  expect(good.principal.id).toBe(`jwt:${identity.issuer} alice@example.org`);
  await strict.authenticate(await identity.token("x", { ...claims, scp: ["chat", "run"] }));
  expect(
    await faultOf(await identity.token("x", { ...claims, scope: "chat runner" }), strict),
  ).toBe("ERR_ACCESS_SCOPE");
  expect(await faultOf(await identity.token("x", { scope: "chat run" }), strict)).toBe("claim");
});

test("a token of the maximum length is parsed, one character more is not", async () => {
  const base = await identity.token("a", { pad: "" });
  const at = await identity.token("a", {
    pad: "x".repeat(Math.floor(((MAX_TOKEN_LENGTH - base.length) * 3) / 4) - 3),
  });
  expect(at.length).toBeLessThanOrEqual(MAX_TOKEN_LENGTH);
  expect(await faultOf(at)).toBe("accepted");
  expect(await faultOf("x".repeat(MAX_TOKEN_LENGTH))).toBe("unknown");
  expect(await faultOf("x".repeat(MAX_TOKEN_LENGTH + 1))).toBe("too-large");
});

test("duplicate claims are rejected, whichever of them a parser would take", async () => {
  const [header = "", , signature = ""] = (await identity.token("a")).split(".");
  const twice = `{"iss":"${identity.issuer}","sub":"a","sub":"b","aud":"countersign-test","exp":${seconds() + 60}}`;
  expect(await faultOf(`${header}.${Buffer.from(twice).toString("base64url")}.${signature}`)).toBe(
    "malformed",
  );
});

test("clock tolerance accepts a small difference, and the grant lasts as long", async () => {
  const clock = createFakeClock(Date.now());
  const tolerant = createAccess([identity.authenticator({ clock, toleranceMs: 5000 })]);
  const grant = await tolerant.authenticate(await identity.token("a", { exp: seconds() - 2 }));
  expect(grant.isValid()).toBe(true);
  clock.advance(5000);
  expect(grant.isValid()).toBe(false);
});

test("a token, and the streams it opened, last until exp plus the tolerance and no longer", async () => {
  const start = seconds();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: -310, max: 10 }),
      fc.nat(999),
      async (tolerance, life, milliseconds) => {
        const clock = createFakeClock(start * 1000 + milliseconds);
        const toleranceMs = tolerance * 1000;
        const access = createAccess([identity.authenticator({ clock, toleranceMs })]);
        const token = await identity.token("a", { exp: start + life });
        const left = (life + tolerance) * 1000 - milliseconds;
        const grant = await access.authenticate(token).catch(() => undefined);
        expect(grant !== undefined).toBe(left > 0);
        clock.advance(Math.max(left - 1, 0));
        expect(grant?.isValid() ?? false).toBe(left > 0);
        clock.advance(1);
        expect(grant?.isValid() ?? false).toBe(false);
      },
    ),
    { numRuns: 200 },
  );
});

test("10,000 mutated tokens: each is rejected with a coded error", async () => {
  const token = await identity.token("alice", { scope: "chat" });
  expect(await faultOf(token)).toBe("accepted");
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ {}"';
  const change = fc.record({
    at: fc.nat(token.length - 1),
    remove: fc.nat(3),
    insert: fc.string({ unit: fc.constantFrom(...characters), maxLength: 3 }),
    cut: fc.constantFrom("none", "head", "tail", "swap"),
  });
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let mutated = token;
      for (const { at, remove, insert, cut } of changes) {
        mutated = mutated.slice(0, at) + insert + mutated.slice(at + remove);
        if (cut === "head") mutated = mutated.slice(at);
        if (cut === "tail") mutated = mutated.slice(0, at);
        if (cut === "swap") mutated = mutated.split(".").toReversed().join(".");
      }
      if (mutated === token) return;
      const fault = await faultOf(mutated === "" ? "." : mutated);
      if (fault === "accepted" || fault === "told") accepted += 1;
    }),
    { numRuns: 10_000 },
  );
  expect(accepted).toBe(0);
}, 30_000);
