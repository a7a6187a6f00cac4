import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { MAX_TOKEN_LENGTH } from "../model/limits.js";
import { evaluateNow, GRANT, issue, ISSUER_KEY, NOW, testVerifier } from "../testing/fixtures.js";
import { keyName, keyThumbprint } from "../trust/public-key.js";
import { createCapabilityIssuer } from "./issue.js";

test("a token is a JWS that any JOSE library reads", async () => {
  const token = await issue({ maxEvents: 3 });
  expect(decodeProtectedHeader(token)).toEqual({
    alg: "EdDSA",
    kid: keyThumbprint(ISSUER_KEY.publicKey),
    typ: "countersign-cap+jwt",
  });
  expect(decodeJwt(token)).toEqual({
    jti: "cap-1",
    iss: keyName(ISSUER_KEY.publicKey),
    sub: "agent-support",
    sid: "sess_01",
    scope: ["ui:display:*", "ui:submit:modal:confirm-refund"],
    nbf: NOW - 100,
    exp: NOW + 100,
    max_events: 3,
  });
});

test("ids are random unless given", async () => {
  const { id: _id, ...grant } = GRANT;
  const issuer = createCapabilityIssuer({ key: ISSUER_KEY, issuer: "https://issuer.example" });
  const [first, second] = [await issuer.issue(grant), await issuer.issue(grant)];
  expect(first.claims.jti).toMatch(/^cap_[A-Za-z0-9_-]{22}$/);
  expect(first.claims.jti).not.toBe(second.claims.jti);
  const verifier = testVerifier({
    issuers: [{ issuer: "https://issuer.example", keys: [ISSUER_KEY.publicKey] }],
  });
  expect(evaluateNow(verifier, first.token).status).toBe("valid");
});

test.each<[string, Parameters<typeof issue>[0]]>([
  ["claims.jti", { id: "cap/1" }],
  ["claims.jti", { id: "cap 1" }],
  ["claims.sub", { agent: "" }],
  ["claims.sid", { sessionId: "s".repeat(257) }],
  ["claims.exp", { expiresAt: GRANT.notBefore }],
  ["claims.nbf", { notBefore: 0.5 }],
  ["claims.max_events", { maxEvents: 0 }],
  ["scope", { scopes: ["everything"] }],
])("nothing is issued that no verifier would take: %s %j", async (what, changes) => {
  await expect(issue(changes)).rejects.toMatchObject({
    code: "ERR_CAPABILITY_MALFORMED",
    facts: { what },
  });
});

test("a token is issued up to its longest length and verifies there; one step more is refused", async () => {
  const scopes = Array.from({ length: 61 }, (_, index) => `ui:alert:${index}-${"x".repeat(180)}`);
  let longest = "";
  let refused = 0;
  for (let length = 1; length <= 240 && refused === 0; length++) {
    try {
      longest = await issue({ scopes: [...scopes, `ui:mutate:${"y".repeat(length)}`] });
    } catch {
      refused = length;
    }
  }
  expect(refused).toBeGreaterThan(1);
  expect(longest.length).toBeGreaterThan(MAX_TOKEN_LENGTH - 3);
  expect(evaluateNow(testVerifier(), longest).status).toBe("valid");
  expect(evaluateNow(testVerifier(), longest.padEnd(MAX_TOKEN_LENGTH + 1, "A")).id).toBe(
    "<malformed>",
  );
});

test("an issuer without a usable name is the caller's mistake", () => {
  expect(() => createCapabilityIssuer({ key: ISSUER_KEY, issuer: "" })).toThrow(TypeError);
});
