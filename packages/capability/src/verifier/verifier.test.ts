import { expect, test } from "vitest";
import { createRevocationList } from "../revocation/revocation.js";
import { createCapabilityIssuer } from "../issue/issue.js";
import { narrowCapability } from "../issue/narrow.js";
import {
  CONTEXT,
  evaluateNow,
  fakeClock,
  GRANT,
  HOLDER_KEY,
  issue,
  ISSUER_KEY,
  NOW,
  STRANGER_KEY,
  testVerifier,
} from "../testing/fixtures.js";
import { keyName } from "../trust/public-key.js";
import { allowanceId, createSpendingBook } from "../model/spending.js";

const ISSUER = keyName(ISSUER_KEY.publicKey);

test("a token of a trusted issuer is valid for its agent and session, synchronously", async () => {
  const facts = evaluateNow(testVerifier(), await issue());
  expect(facts).toMatchObject({
    id: "cap-1",
    status: "valid",
    scopes: ["ui:display:*", "ui:submit:modal:confirm-refund"],
    claims: { sub: "agent-support", sid: "sess_01" },
  });
  expect(facts.reason).toBeUndefined();
  expect(facts.authorize).toBeUndefined();
});

test("one token keeps one array of scopes", async () => {
  const verifier = testVerifier();
  const token = await issue();
  expect(evaluateNow(verifier, token).scopes).toBe(evaluateNow(verifier, token).scopes);
});

test("the validity period includes its start and excludes its end", async () => {
  const clock = fakeClock();
  const verifier = testVerifier({ clock });
  const token = await issue({ notBefore: NOW, expiresAt: NOW + 10 });
  const statusAt = (seconds: number): unknown[] => {
    clock.set(seconds);
    const { status, reason } = evaluateNow(verifier, token);
    return [status, reason];
  };
  expect(statusAt(NOW - 0.001)).toEqual([
    "not_yet_valid",
    "capability time validation failed: not yet valid",
  ]);
  expect(statusAt(NOW)).toEqual(["valid", undefined]);
  expect(statusAt(NOW + 9.999)).toEqual(["valid", undefined]);
  expect(statusAt(NOW + 10)).toEqual(["expired", "capability time validation failed: expired"]);
});

test("a clock without a time refuses", async () => {
  const verifier = testVerifier({ clock: { now: () => Number.NaN } });
  expect(evaluateNow(verifier, await issue()).status).toBe("not_yet_valid");
});

test("another agent and another session are refused by name", async () => {
  const verifier = testVerifier();
  const token = await issue();
  const elsewhere = evaluateNow(verifier, token, { ...CONTEXT, agent: "agent-billing" });
  expect(elsewhere.status).toBe("wrong_agent");
  expect(elsewhere.scopes).toEqual([]);
  expect(evaluateNow(verifier, token, { ...CONTEXT, sessionId: "sess_02" }).status).toBe(
    "wrong_session",
  );
});

test("a token without a session is valid in every session of its agent", async () => {
  const { sessionId: _session, ...grant } = GRANT;
  const { token } = await createCapabilityIssuer({ key: ISSUER_KEY }).issue(grant);
  expect(evaluateNow(testVerifier(), token, { ...CONTEXT, sessionId: "any" }).status).toBe("valid");
});

test("an issuer outside the trust list is refused before any signature is checked", async () => {
  const facts = evaluateNow(testVerifier(), await issue({}, STRANGER_KEY));
  expect(facts).toMatchObject({
    id: "cap-1",
    status: "untrusted_issuer",
    reason: "capability verification failed: issuer is not trusted",
    scopes: [],
  });
});

test("a revoked token is refused, and stays refused from the cache", async () => {
  const revocations = createRevocationList();
  const verifier = testVerifier({ revocations });
  const token = await issue();
  expect(evaluateNow(verifier, token).status).toBe("valid");
  revocations.revoke({ capability_id: "cap-1", revoked_at: NOW });
  expect(evaluateNow(verifier, token)).toMatchObject({
    status: "revoked",
    reason: "capability has been revoked",
  });
});

test("a revocation source that fails refuses everything", async () => {
  const revocations = {
    isRevoked(): boolean {
      throw new Error("store is down");
    },
  };
  expect(evaluateNow(testVerifier({ revocations }), await issue())).toMatchObject({
    status: "rejected",
    reason: "capability verification failed: internal verification error",
  });
});

test("a token authorizes as many events as it states", async () => {
  const verifier = testVerifier();
  const token = await issue({ maxEvents: 2 });
  for (let event = 0; event < 2; event++) {
    const facts = evaluateNow(verifier, token);
    expect(facts.status).toBe("valid");
    verifier.spend(facts);
  }
  expect(evaluateNow(verifier, token)).toMatchObject({
    status: "exhausted",
    reason: "capability has no events left",
  });
});

test("narrowed tokens share the allowance of their parent", async () => {
  const verifier = testVerifier();
  const parent = await issue({ maxEvents: 3, holder: HOLDER_KEY.publicKey });
  const first = await narrowCapability(parent, HOLDER_KEY, { id: "a", maxEvents: 2 });
  const second = await narrowCapability(parent, HOLDER_KEY, { id: "b" });
  for (let event = 0; event < 2; event++) {
    const facts = evaluateNow(verifier, first.token);
    expect(facts.status).toBe("valid");
    verifier.spend(facts);
  }
  expect(evaluateNow(verifier, first.token).status).toBe("exhausted");
  verifier.spend(evaluateNow(verifier, second.token));
  expect(evaluateNow(verifier, second.token).status).toBe("exhausted");
});

test("the limits of a token are known once it was found authentic, its parent's among them", async () => {
  const verifier = testVerifier();
  const parent = await issue({ maxEvents: 3, holder: HOLDER_KEY.publicKey });
  const { token } = await narrowCapability(parent, HOLDER_KEY, { id: "a", maxEvents: 2 });
  expect(verifier.allowances(token)).toBeUndefined();
  evaluateNow(verifier, token);
  for (let look = 0; look < 2; look++) {
    expect(verifier.allowances(token)).toMatchObject([
      { id: allowanceId(ISSUER, "cap-1"), maxEvents: 3 },
      { id: allowanceId(ISSUER, "cap-1/a"), maxEvents: 2 },
    ]);
    evaluateNow(verifier, token);
  }
  const unlimited = await issue({ id: "free" });
  evaluateNow(verifier, unlimited);
  expect(verifier.allowances(unlimited)).toEqual([]);
  const forged = `${token.slice(0, -86)}${"A".repeat(86)}`;
  evaluateNow(verifier, forged);
  expect(verifier.allowances(forged)).toBeUndefined();
  expect(verifier.allowances(7)).toBeUndefined();
});

test("a full spending book refuses new allowances and drops only expired ones", async () => {
  const clock = fakeClock();
  const verifier = testVerifier({ clock, spending: createSpendingBook(1) });
  const first = await issue({ id: "one", maxEvents: 5, expiresAt: NOW + 10 });
  const second = await issue({ id: "two", maxEvents: 5 });
  verifier.spend(evaluateNow(verifier, first));
  expect(evaluateNow(verifier, second).status).toBe("exhausted");
  expect(evaluateNow(verifier, first).status).toBe("valid");
  clock.set(NOW + 10);
  expect(evaluateNow(verifier, second).status).toBe("valid");
});

test("spending a token that was not valid changes nothing", async () => {
  const verifier = testVerifier();
  const token = await issue({ maxEvents: 1 });
  verifier.spend({ id: "cap-1" });
  verifier.spend(evaluateNow(verifier, token, { ...CONTEXT, agent: "another" }));
  expect(evaluateNow(verifier, token).status).toBe("valid");
});

test("two issuers with one id have separate counts", async () => {
  const verifier = testVerifier({ issuers: [ISSUER_KEY.publicKey, HOLDER_KEY.publicKey] });
  const ours = await issue({ maxEvents: 1 });
  const theirs = await issue({ maxEvents: 2 }, HOLDER_KEY);
  const [first, second] = [evaluateNow(verifier, ours), evaluateNow(verifier, theirs)];
  expect(first.id).toBe(second.id);
  verifier.spend(first);
  expect(evaluateNow(verifier, ours).status).toBe("exhausted");
  for (let event = 0; event < 2; event++) {
    expect(evaluateNow(verifier, theirs).status).toBe("valid");
    verifier.spend(second);
  }
  expect(evaluateNow(verifier, theirs).status).toBe("exhausted");
});

test("the budget survives eviction from the cache", async () => {
  const verifier = testVerifier({ cache: 1 });
  const token = await issue({ maxEvents: 1 });
  verifier.spend(evaluateNow(verifier, token));
  evaluateNow(verifier, await issue({ id: "other" }));
  expect(evaluateNow(verifier, token).status).toBe("exhausted");
});

test("a session that forges is rejected without cryptography; others are not", async () => {
  const clock = fakeClock();
  const verifier = testVerifier({ clock, forgeries: { count: 3, windowSeconds: 60 } });
  const token = await issue();
  const forge = (signature: string): string =>
    `${token.slice(0, token.lastIndexOf(".") + 1)}${signature.repeat(43)}`;
  for (const pair of ["AA", "AE", "AI"]) {
    expect(evaluateNow(verifier, forge(pair).slice(0, -1) + "A").status).toBe("bad_signature");
  }
  expect(evaluateNow(verifier, token)).toMatchObject({
    status: "rejected",
    reason: "capability verification failed: too many forged tokens in this session",
  });
  const other = await issue({ id: "cap-2", sessionId: "sess_02" });
  expect(evaluateNow(verifier, other, { ...CONTEXT, sessionId: "sess_02" }).status).toBe("valid");
  clock.set(NOW + 60);
  expect(evaluateNow(verifier, token).status).toBe("valid");
});

test("a token known to be valid stays valid in a session that forges", async () => {
  const verifier = testVerifier({ forgeries: { count: 1, windowSeconds: 60 } });
  const token = await issue();
  expect(evaluateNow(verifier, token).status).toBe("valid");
  evaluateNow(verifier, `${token.slice(0, -86)}${"A".repeat(86)}`);
  expect(evaluateNow(verifier, token).status).toBe("valid");
});

test("a named issuer is known by its name and its own keys alone", async () => {
  const verifier = testVerifier({
    issuers: [
      { issuer: "https://issuer.example", keys: [ISSUER_KEY.publicKey] },
      { issuer: "https://other.example", keys: [STRANGER_KEY.publicKey] },
    ],
  });
  // Signed by a trusted key, but under the name `ed25519:…`, which is not listed.
  expect(evaluateNow(verifier, await issue()).status).toBe("untrusted_issuer");
});

test("invalid options are the caller's mistake", () => {
  expect(() => testVerifier({ cache: 0 })).toThrow(TypeError);
  expect(() => testVerifier({ issuers: [{ issuer: "x", keys: [] }] })).toThrow(TypeError);
  expect(() => testVerifier({ issuers: ["nonsense"] })).toThrow("not an Ed25519 public key");
});

test.each([null, 1, true, [], "", "a.b.c", "~", "{", "x".repeat(20_000)])(
  "a value that is not a token is malformed, not an error: %j",
  (token) => {
    expect(evaluateNow(testVerifier(), token)).toMatchObject({
      id: "<malformed>",
      status: "malformed",
    });
  },
);
