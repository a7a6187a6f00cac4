import type { JsonObject, JsonValue } from "@countersign/core";
import { canonicalJson, encodeHex } from "@countersign/core";
import { createSigner } from "@countersign/core/sign";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { evaluateNow, fakeClock } from "../testing/fixtures.js";
import {
  BODY,
  body,
  constrained,
  CONTEXT,
  granting,
  ISSUER,
  judge,
  onModal,
  sign,
  SIGNATURE,
  SUBJECT,
  token,
  verifier,
  WITHOUT_SCHEMA,
} from "../testing/chio.js";

test.each<[string, JsonObject]>([
  ["as published", { ...body(), signature: SIGNATURE }],
  ["signed without schema", { ...body(), signature: WITHOUT_SCHEMA }],
  ["with the algorithm named", { ...body(), signature: SIGNATURE, algorithm: "ed25519" }],
  ["with prefixes", { ...body(), signature: `ed25519:${SIGNATURE}` }],
])("the test vector verifies %s", (_how, value) => {
  const facts = judge(value);
  expect(facts).toMatchObject({
    id: "cap-test-0001",
    status: "valid",
    scopes: ["ui:submit:modal:confirm-refund"],
  });
  expect(onModal(facts)).toBeUndefined();
  expect(judge(JSON.stringify(value)).status).toBe("valid");
});

test("the test vector verifies without its schema on the wire", () => {
  const { schema: _schema, ...bare } = body();
  expect(judge({ ...bare, signature: SIGNATURE }).status).toBe("valid");
  expect(judge({ ...bare, signature: WITHOUT_SCHEMA }).status).toBe("valid");
});

test("a token with newer features does not verify over the old body", () => {
  const value: JsonObject = { ...body(), budget_share_bps: 10_000 };
  const { schema: _schema, ...bare } = value;
  expect(judge({ ...value, signature: sign(value) }).status).toBe("valid");
  expect(judge({ ...value, signature: sign(bare) }).status).toBe("bad_signature");
});

test("times up to 2^64 − 1 keep their digits in text", () => {
  const text = BODY.replace("1744994200", "18446744073709551615");
  const signature = encodeHex(createSigner(ISSUER).sign(new TextEncoder().encode(text)));
  const signed = text.replace(/\}$/, `,"signature":"${signature}"}`);
  expect(judge(signed).status).toBe("valid");
  expect(judge(signed.replace("18446744073709551615", "18446744073709551614")).status).toBe(
    "bad_signature",
  );
  expect(judge(signed.replace("18446744073709551615", "18446744073709551616")).status).toBe(
    "malformed",
  );
});

test.each([
  '"id":18446744073709551615',
  '"id":"a","id":"cap-test-0001"',
  '"id":0018446744073709551615',
])("text with %s is malformed", (member) => {
  const text = BODY.replace('"id":"cap-test-0001"', member).replace(
    /\}$/,
    `,"signature":"${SIGNATURE}"}`,
  );
  expect(judge(text).status).toBe("malformed");
});

test("reading hostile text takes linear time", () => {
  const quotes = `{"${String.raw`\"`.repeat(30_000)}1234567890123456`;
  expect(judge(quotes).status).toBe("malformed");
});

test("a mutated token never verifies and never throws", () => {
  const good: JsonObject = { ...body(), signature: SIGNATURE };
  const text = JSON.stringify(good);
  const patient = verifier({ cache: 1, forgeries: { count: 1e9, windowSeconds: 1 } });
  fc.assert(
    fc.property(
      fc.nat(text.length - 1),
      fc.string({ minLength: 0, maxLength: 2 }),
      (at, insert) => {
        const mutated = text.slice(0, at) + insert + text.slice(at + 1);
        const facts = evaluateNow(patient, mutated, CONTEXT);
        // Spaces and escapes between members do not change the value.
        const isSame = facts.status === "valid" && canonicalJson(JSON.parse(mutated) as JsonValue);
        expect(isSame === false || isSame === canonicalJson(good)).toBe(true);
      },
    ),
    { numRuns: 3000 },
  );
});

test.each<[string, JsonObject, string]>([
  ["an untrusted issuer", { issuer: encodeHex(SUBJECT.publicKey) }, "issuer is not trusted"],
  [
    "another schema",
    { schema: "chio.capability.v9" },
    "token schema exceeds peer-negotiated ceiling",
  ],
  ["caveats", { caveats: [{ kind: "x" }] }, "token carries caveats"],
  [
    "a family budget",
    { aggregate_invocation_budget: { max: 1 } },
    "aggregate invocation enforcement is unavailable",
  ],
  ["an attenuation proof", { attenuation_proof: {} }, "capability rejected by chain binding"],
  ["scope attenuations", { scope_attenuations: [{}] }, "capability rejected by chain binding"],
  [
    "too large a share",
    { budget_share_bps: 10_001 },
    "capability rejected by sibling-sum budget: child cap-test-0001 share 10001 bps exceeds the 10000 bps per-token cap",
  ],
])("%s is refused with Chio's sentence", (_what, changes, reason) => {
  expect(judge(token(changes)).reason).toBe(`capability verification failed: ${reason}`);
});

test("another algorithm is below the floor", () => {
  for (const changes of [{ algorithm: "p256" }, { signature: `p256:${"ab".repeat(64)}` }]) {
    expect(judge({ ...token(), ...changes }).reason).toBe(
      "capability verification failed: capability crypto floor rejected",
    );
  }
});

test("the object is closed at every level", () => {
  expect(judge(token({ note: "x" })).status).toBe("malformed");
  expect(judge(granting({ note: "x" })).status).toBe("malformed");
  expect(judge(constrained({ type: "custom", value: ["a", "b"], also: 1 })).status).toBe(
    "malformed",
  );
  expect(judge(token({ scope: { grants: [], more: [] } })).status).toBe("malformed");
  expect(judge(granting({ operations: ["conquer"] })).status).toBe("malformed");
});

test("an object too large to be a token is malformed before it is hashed", () => {
  expect(judge({ ...token(), note: "x".repeat(70_000) })).toMatchObject({ id: "<malformed>" });
  expect(judge({ a: Array.from({ length: 9000 }, () => 0) })).toMatchObject({ id: "<malformed>" });
});

test("time is checked after the signature and to the second", () => {
  const at = (seconds: number, value: JsonValue = token()): string =>
    judge(value, CONTEXT, { clock: fakeClock(seconds) }).status;
  expect(at(1_744_993_899)).toBe("not_yet_valid");
  expect(at(1_744_993_900)).toBe("valid");
  expect(at(1_744_994_199)).toBe("valid");
  expect(at(1_744_994_200)).toBe("expired");
  expect(at(1_744_994_200, { ...token(), signature: "00".repeat(64) })).toBe("bad_signature");
});

test("one token keeps one array of scopes per set of grants", () => {
  const one = verifier();
  const first = evaluateNow(one, token(), CONTEXT).scopes;
  expect(evaluateNow(one, token(), CONTEXT).scopes).toBe(first);
});
