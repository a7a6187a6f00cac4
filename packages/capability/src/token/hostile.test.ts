import { createHmac } from "node:crypto";
import { encodeBase64Url } from "@countersign/core";
import * as fc from "fast-check";
import { compactVerify, importJWK } from "jose";
import { expect, test } from "vitest";
import { MAX_SCOPES } from "../model/limits.js";
import { narrowCapability } from "../issue/narrow.js";
import {
  evaluateNow,
  HOLDER_KEY,
  issue,
  ISSUER_KEY,
  NOW,
  signRaw,
  STRANGER_KEY,
  testVerifier,
} from "../testing/fixtures.js";
import { keyName, keyThumbprint, toJwk } from "../trust/public-key.js";
import { TOKEN_TYPE } from "./compact.js";

const HEADER = { alg: "EdDSA", kid: keyThumbprint(ISSUER_KEY.publicKey), typ: TOKEN_TYPE };
const CLAIMS = {
  jti: "cap-1",
  iss: keyName(ISSUER_KEY.publicKey),
  sub: "agent-support",
  scope: ["ui:display:*"],
  nbf: NOW - 1,
  exp: NOW + 1,
};

const statusOf = (token: string): string => evaluateNow(testVerifier(), token).status;
const signed = (claims: object, header: object = HEADER): string =>
  signRaw(JSON.stringify(header), JSON.stringify(claims));

// No limit on forgeries, so that every mutation reaches the whole verifier.
const patient = testVerifier({ cache: 1, forgeries: { count: 1e9, windowSeconds: 1 } });

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~ {}"=%\u0000é';

type Mutation = (token: string) => string;
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(fc.nat(), fc.nat(ALPHABET.length - 1)).map(([place, letter]): Mutation => (token) => {
    const at = place % token.length;
    return token.slice(0, at) + ALPHABET.charAt(letter) + token.slice(at + 1);
  }),
  fc.nat().map(
    (place): Mutation =>
      (token) =>
        token.slice(0, place % token.length),
  ),
  fc.nat().map(
    (place): Mutation =>
      (token) =>
        token.slice((place % token.length) + 1),
  ),
  fc.tuple(fc.nat(), fc.nat(40)).map(([place, length]): Mutation => (token) => {
    const at = place % token.length;
    return token.slice(0, at) + token.slice(at, at + length) + token.slice(at);
  }),
  fc.tuple(fc.nat(5), fc.nat(5)).map(([one, two]): Mutation => (token) => {
    const parts = token.split(/[.~]/);
    const first = parts[one % parts.length] ?? "";
    parts[one % parts.length] = parts[two % parts.length] ?? "";
    parts[two % parts.length] = first;
    return parts.join(".");
  }),
  fc.string().map(
    (rest): Mutation =>
      (token) =>
        token + rest,
  ),
);

test("no mutated token verifies, and none makes the verifier throw (6,000 of them)", async () => {
  const plain = await issue();
  const held = await issue({ holder: HOLDER_KEY.publicKey });
  const { token: chain } = await narrowCapability(held, HOLDER_KEY, { id: "a" });
  const originals = new Set([plain, chain]);
  fc.assert(
    fc.property(fc.constantFrom(plain, chain), mutation, (token, mutate) => {
      const mutated = mutate(token);
      const { status } = evaluateNow(patient, mutated);
      expect(status === "valid").toBe(originals.has(mutated));
    }),
    { numRuns: 6000 },
  );
});

test("arbitrary JSON never verifies and never makes the verifier throw", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(evaluateNow(patient, value as never).status).not.toBe("valid");
    }),
    { numRuns: 500 },
  );
});

test("the verdict on signatures equals jose's, except where jose is lenient: loose bits, padding, spaces", async () => {
  const token = await issue();
  const key = await importJWK({ ...toJwk(ISSUER_KEY.publicKey) }, "EdDSA");
  const isGoodForJose = async (text: string): Promise<boolean> => {
    try {
      await compactVerify(text, key, { algorithms: ["EdDSA"] });
      return true;
    } catch {
      return false;
    }
  };
  expect(await isGoodForJose(token)).toBe(true);
  await fc.assert(
    fc.asyncProperty(mutation, async (mutate) => {
      const mutated = mutate(token);
      // 86 characters have four bits more than a signature; jose ignores them, we reject them.
      fc.pre(mutated === token || mutated.slice(0, -1) !== token.slice(0, -1));
      const isGood = evaluateNow(patient, mutated).status === "valid";
      const isPlain = /^[\w-]+\.[\w-]+\.[\w-]+$/u.test(mutated);
      expect(isGood).toBe(isPlain && (await isGoodForJose(mutated)));
    }),
    { numRuns: 500, examples: [[(text) => `${text}=`], [(text) => `${text} `]] },
  );
});

test("a token signed by hand from the same claims is equivalent to an issued one", () => {
  expect(statusOf(signed(CLAIMS))).toBe("valid");
});

test.each<[string, object]>([
  ["no algorithm", { ...HEADER, alg: "none" }],
  ["a symmetric algorithm", { ...HEADER, alg: "HS256" }],
  ["another name of the algorithm", { ...HEADER, alg: "Ed25519" }],
  ["another curve", { ...HEADER, alg: "ES256" }],
  ["another type", { ...HEADER, typ: "JWT" }],
  ["no type", { alg: HEADER.alg, kid: HEADER.kid }],
  ["no key id", { alg: HEADER.alg, typ: HEADER.typ }],
  ["a key of its own", { ...HEADER, jwk: toJwk(STRANGER_KEY.publicKey) }],
  ["a key somewhere else", { ...HEADER, jku: "https://evil.example/jwks" }],
  ["critical extensions", { ...HEADER, crit: ["exp"], exp: 1 }],
  ["an unencoded payload", { ...HEADER, b64: false, crit: ["b64"] }],
  ["a key id that is a path", { ...HEADER, kid: "../../dev/null" }],
])("a header with %s is malformed, even well signed", (_what, header) => {
  expect(statusOf(signed(CLAIMS, header))).toBe("malformed");
});

test("the public key is not accepted as an HMAC secret (HS256 confusion)", () => {
  const encode = (value: object): string =>
    encodeBase64Url(new TextEncoder().encode(JSON.stringify(value)));
  for (const alg of ["HS256", "EdDSA"]) {
    const input = `${encode({ ...HEADER, alg })}.${encode(CLAIMS)}`;
    const mac = createHmac("sha512", ISSUER_KEY.publicKey).update(input).digest();
    expect(statusOf(`${input}.${encodeBase64Url(mac)}`)).toBe(
      alg === "EdDSA" ? "bad_signature" : "malformed",
    );
  }
});

test("a key id of another trusted issuer does not select its key", () => {
  const verifier = testVerifier({
    issuers: [
      { issuer: "alpha", keys: [ISSUER_KEY.publicKey] },
      { issuer: "beta", keys: [STRANGER_KEY.publicKey] },
    ],
  });
  const header = JSON.stringify({ ...HEADER, kid: keyThumbprint(STRANGER_KEY.publicKey) });
  const claims = JSON.stringify({ ...CLAIMS, iss: "alpha" });
  expect(evaluateNow(verifier, signRaw(header, claims, STRANGER_KEY)).status).toBe(
    "untrusted_issuer",
  );
  expect(evaluateNow(verifier, signRaw(JSON.stringify(HEADER), claims, STRANGER_KEY)).status).toBe(
    "bad_signature",
  );
});

test("a claim named twice is malformed, whichever one a lenient reader would take", () => {
  const text = JSON.stringify(CLAIMS);
  const twice = text.replace('"sub"', '"sub":"agent-admin","sub"');
  expect(statusOf(signRaw(JSON.stringify(HEADER), twice))).toBe("malformed");
  const header = JSON.stringify(HEADER).replace('"alg"', '"alg":"none","alg"');
  expect(statusOf(signRaw(header, text))).toBe("malformed");
});

const scopes = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `ui:alert:t${index}`);

test.each<[string, object]>([
  ["an unknown claim", { only_on_sundays: true }],
  ["a fractional time", { exp: NOW + 0.5 }],
  ["a time as text", { exp: String(NOW + 1) }],
  ["a negative time", { nbf: -1 }],
  ["an end before its start", { exp: NOW - 2 }],
  ["no events at all", { max_events: 0 }],
  ["scopes as one string", { scope: "ui:*:*" }],
  ["a scope twice", { scope: ["ui:*:*", "ui:*:*"] }],
  ["a scope outside the grammar", { scope: ["ui:everything:*"] }],
  ["one scope too many", { scope: scopes(MAX_SCOPES + 1) }],
  ["a scope that is too long", { scope: [`ui:alert:${"x".repeat(248)}`] }],
  ["an id with spaces", { jti: "cap 1" }],
  ["an id with control characters", { jti: "cap\n1" }],
  ["a padded session", { sid: " sess_01" }],
  ["a weak holder", { cnf: { jwk: { kty: "OKP", crv: "Ed25519", x: "A".repeat(43) } } }],
  ["a holder with its private key", { cnf: { jwk: { ...toJwk(HOLDER_KEY.publicKey), d: "x" } } }],
])("claims with %s are malformed, even well signed", (_what, changes) => {
  expect(statusOf(signed({ ...CLAIMS, ...changes }))).toBe("malformed");
});

test("values at each bound are accepted", () => {
  expect(statusOf(signed({ ...CLAIMS, scope: scopes(MAX_SCOPES) }))).toBe("valid");
  expect(statusOf(signed({ ...CLAIMS, scope: [`ui:alert:${"x".repeat(247)}`] }))).toBe("valid");
});
