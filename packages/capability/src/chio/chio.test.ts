import type { JsonObject, JsonValue } from "@countersign/core";
import { canonicalJson, encodeHex } from "@countersign/core";
import { createSigner } from "@countersign/core/sign";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { CapabilityContext, CapabilityFacts } from "../facts.js";
import { NOT_AUTHORIZED } from "../facts.js";
import { createRevocationList } from "../revocation/revocation.js";
import { evaluateNow, fakeClock, testKey, testVerifier } from "../testing/fixtures.js";
import type { CapabilityVerifier, CapabilityVerifierOptions } from "../verifier/verifier.js";

const ISSUER = testKey(8);
const SUBJECT = testKey(9);
const MIDDLE = testKey(10);
const NOW = 1_744_994_000;
const CONTEXT: CapabilityContext = { agent: "agent-support", sessionId: "sess_01" };
const MODAL = { component_type: "modal", component_id: "confirm-refund" };

const BODY =
  '{"expires_at":1744994200,"id":"cap-test-0001","issued_at":1744993900,"issuer":"1398f62c6d1a457c51ba6a4b5f3dbd2f69fca93216218dc8997e416bd17d93ca","schema":"chio.capability.v1","scope":{"grants":[{"constraints":[{"type":"custom","value":["session_id","sess_01"]},{"type":"custom","value":["target_component_type","modal"]},{"type":"custom","value":["target_component_id","confirm-refund"]}],"operations":["invoke"],"server_id":"ag-ui","tool_name":"submit"}]},"subject":"fd1724385aa0c75b64fb78cd602fa1d991fdebf76b13c58ed702eac835e9f618"}';
const SIGNATURE =
  "9a78adb7d2205bca900763ad65f737fc7e915e3dc9ba46a03d2c4746b165803bd686e080982f19d56222bc58df9fb2d8f1e191cc831f393419cd587ce1824a0b";
const WITHOUT_SCHEMA =
  "c446b684a1df5ebb29f8fa4b38ce0a3758698dc72504c72b052ba1b80a1efa95579f60c5b3d1bc5a2d0b94fbe898d082088676ccf86b4a9f7ce711ae1654e30b";

const body = (): JsonObject => JSON.parse(BODY) as JsonObject;
const verifier = (options: Partial<CapabilityVerifierOptions> = {}): CapabilityVerifier =>
  testVerifier({ issuers: [ISSUER.publicKey], clock: fakeClock(NOW), ...options });
const judge = (
  token: JsonValue,
  context: CapabilityContext = CONTEXT,
  options: Partial<CapabilityVerifierOptions> = {},
): CapabilityFacts => evaluateNow(verifier(options), token, context);

function sign(value: JsonObject, key = ISSUER): string {
  const { signature: _old, algorithm: _algorithm, ...signed } = value;
  return encodeHex(createSigner(key).sign(new TextEncoder().encode(canonicalJson(signed))));
}

/** The test vector with changes, signed anew. */
function token(changes: JsonObject = {}): JsonObject {
  const value = { ...body(), ...changes };
  return { ...value, signature: sign(value) };
}

const custom = (key: string, value: string): JsonObject => ({
  type: "custom",
  value: [key, value],
});
const SESSION = custom("session_id", "sess_01");
const ON_MODAL = [
  SESSION,
  custom("target_component_type", "modal"),
  custom("target_component_id", "confirm-refund"),
];
const granting = (grant: JsonObject): JsonObject =>
  token({
    scope: {
      grants: [
        {
          server_id: "ag-ui",
          tool_name: "submit",
          operations: ["invoke"],
          constraints: ON_MODAL,
          ...grant,
        },
      ],
    },
  });
const constrained = (...constraints: JsonObject[]): JsonObject =>
  granting({ constraints: [...ON_MODAL, ...constraints] });
const withPayload = (payload: JsonValue, id = "evt_1"): CapabilityContext => ({
  ...CONTEXT,
  event: { id, payload },
});
const onModal = (facts: CapabilityFacts, classification = "submit"): string | undefined =>
  facts.status === "valid"
    ? facts.authorize?.({}, { classification, target: MODAL })
    : facts.reason;

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
        // Spaces and escapes between members do not change what is said.
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

test("a grant binds to exactly its session, component and class", () => {
  const facts = judge(token());
  expect(onModal(facts)).toBeUndefined();
  expect(onModal(facts, "navigate")).toBe(NOT_AUTHORIZED);
  expect(facts.authorize?.({}, { classification: "submit" })).toBe(NOT_AUTHORIZED);
  expect(
    facts.authorize?.({}, { classification: "submit", target: { component_type: "modal" } }),
  ).toBe(NOT_AUTHORIZED);
  expect(judge(token(), { ...CONTEXT, sessionId: "sess_02" }).status).toBe("wrong_session");
});

test("an event without a target needs a grant that names none", () => {
  const facts = judge(granting({ constraints: [SESSION] }));
  expect(facts.scopes).toEqual(["ui:submit:*"]);
  expect(facts.authorize?.({}, { classification: "submit" })).toBeUndefined();
  expect(onModal(facts)).toBe(NOT_AUTHORIZED);
});

test("a grant without the session never binds, and a payload cannot lend one", () => {
  const grant = granting({ constraints: ON_MODAL.slice(1) });
  expect(judge(grant).status).toBe("wrong_session");
  expect(judge(grant, withPayload({ session_id: "sess_01" })).status).toBe("wrong_session");
  const other = granting({ constraints: [custom("session_id", "sess_02"), ...ON_MODAL.slice(1)] });
  expect(judge(other, withPayload({ session_id: "sess_02" })).status).toBe("wrong_session");
});

test.each<[string, JsonObject]>([
  ["another server", { server_id: "mcp" }],
  ["another tool", { tool_name: "shell" }],
  ["no invocation", { operations: ["read"] }],
])("a grant for %s opens no event", (_what, grant) => {
  expect(judge(granting(grant))).toMatchObject({ status: "rejected", reason: NOT_AUTHORIZED });
});

test("wildcards for server and tool hold for every class", () => {
  const facts = judge(granting({ server_id: "*", tool_name: "*" }));
  expect(facts.scopes).toEqual(["ui:*:modal:confirm-refund"]);
  expect(onModal(facts, "destroy")).toBeUndefined();
});

test.each(["regex_match", "max_transaction_amount_usd", "invented_tomorrow"])(
  "a constraint nobody can evaluate denies: %s",
  (type) => {
    expect(judge(constrained({ type, value: "x" }), withPayload({}))).toMatchObject({
      status: "rejected",
      reason: `capability scope constraint failed: portable kernel cannot safely evaluate ${type}`,
      scopes: [],
    });
  },
);

test("cumulative approvals and proofs of possession are refused, not ignored", () => {
  expect(judge(constrained({ type: "require_cumulative_approval_above", value: 1 })).reason).toBe(
    "capability verification failed: cumulative approval enforcement is unavailable",
  );
  expect(judge(granting({ dpop_required: true })).reason).toBe(
    "capability scope constraint failed: proof of possession is unavailable",
  );
  expect(judge(constrained({ type: "output_digest_sha256", value: "x" })).status).toBe("rejected");
});

const ALLOWED = undefined;
test.each<[string, JsonValue, JsonValue, string | undefined]>([
  ["max_length", 14, { text: "short" }, ALLOWED],
  ["max_length", 14, { text: "fifteen letters" }, NOT_AUTHORIZED],
  ["max_args_size", 500, { text: "x" }, ALLOWED],
  ["max_args_size", 20, { text: "x" }, NOT_AUTHORIZED],
  ["path_prefix", "/tmp", { file: "/tmp/a" }, ALLOWED],
  ["path_prefix", "/tmp", { file: "/tmpfile" }, NOT_AUTHORIZED],
  ["path_prefix", "/tmp", { file: "/tmp/../etc" }, NOT_AUTHORIZED],
  ["domain_exact", "example.com", { url: "https://example.com/a" }, ALLOWED],
  ["domain_exact", "example.com", { url: "https://example.com.evil.org/a" }, NOT_AUTHORIZED],
  ["domain_exact", "example.com", { url: "https://example.com@evil.org/" }, NOT_AUTHORIZED],
  ["domain_exact", "example.com", { url: "//evil.org", host: "example.com" }, NOT_AUTHORIZED],
  ["domain_exact", "example.com", { url: "/\\evil.org", host: "example.com" }, NOT_AUTHORIZED],
  [
    "domain_exact",
    "example.com",
    { url: "java\tscript:alert(1)", host: "example.com" },
    NOT_AUTHORIZED,
  ],
  ["domain_exact", "example.com", { text: "no address" }, NOT_AUTHORIZED],
  ["domain_glob", "*.example.com", { url: "https://a.example.com" }, ALLOWED],
  ["domain_glob", "*.example.com", { url: "https://a.b.example.com" }, NOT_AUTHORIZED],
  ["domain_glob", "**.example.com", { url: "https://a.b.example.com" }, ALLOWED],
  ["domain_glob", "*.example.com", { url: "https://example.com" }, NOT_AUTHORIZED],
  ["custom", ["tier", "gold"], { customer: { tier: "gold" } }, ALLOWED],
  ["custom", ["tier", "gold"], { customer: { tier: "lead" } }, NOT_AUTHORIZED],
  ["custom", ["event_id", "evt_1"], {}, ALLOWED],
  ["custom", ["event_id", "evt_2"], { event_id: "evt_2" }, NOT_AUTHORIZED],
  ["custom", ["agent_id", "agent-support"], {}, ALLOWED],
  ["custom", ["agent_id", "root"], { agent_id: "root" }, NOT_AUTHORIZED],
  ["custom", ["event_classification", "submit"], {}, ALLOWED],
  ["custom", "tier", { tier: "gold" }, NOT_AUTHORIZED],
  ["audience_allowlist", ["ops", "support"], { channel: "ops", to: ["support"] }, ALLOWED],
  ["audience_allowlist", ["ops"], { channel: "ops", to: ["everyone"] }, NOT_AUTHORIZED],
  ["audience_allowlist", ["ops"], {}, NOT_AUTHORIZED],
  ["memory_store_allowlist", ["cart"], { store: "cart" }, ALLOWED],
  ["memory_store_allowlist", ["cart"], { collection: "users" }, NOT_AUTHORIZED],
])("constraint %s %j on payload %j", (type, value, payload, reason) => {
  expect(onModal(judge(constrained({ type, value }), withPayload(payload)))).toBe(reason);
});

test("a constraint about the payload denies where no payload is known", () => {
  expect(judge(constrained({ type: "max_length", value: 1000 }))).toMatchObject({
    status: "rejected",
    reason: NOT_AUTHORIZED,
  });
});

test("max_invocations counts delivered events", () => {
  const one = verifier();
  const limited = granting({ max_invocations: 2 });
  for (let event = 0; event < 2; event++) {
    expect(onModal(evaluateNow(one, limited, CONTEXT))).toBeUndefined();
    one.spend("cap-test-0001");
  }
  expect(evaluateNow(one, limited, CONTEXT).status).not.toBe("valid");
});

test("the subject must be a key of the agent where keys of agents are known", () => {
  const options = { chio: { agentKeys: { "agent-support": [SUBJECT.publicKey] } } };
  expect(judge(token(), CONTEXT, options).status).toBe("valid");
  expect(judge(token(), { ...CONTEXT, agent: "agent-other" }, options).status).toBe("wrong_agent");
  expect(judge(token({ subject: encodeHex(MIDDLE.publicKey) }), CONTEXT, options).status).toBe(
    "wrong_agent",
  );
});

function link(from: typeof ISSUER, to: typeof ISSUER, changes: JsonObject = {}): JsonObject {
  const value: JsonObject = {
    capability_id: "cap-parent",
    delegator: encodeHex(from.publicKey),
    delegatee: encodeHex(to.publicKey),
    timestamp: NOW - 50,
    ...changes,
  };
  return { ...value, signature: sign(value, from) };
}
const CHAIN = [
  link(ISSUER, MIDDLE, { capability_id: "cap-root" }),
  link(MIDDLE, SUBJECT, { timestamp: NOW - 40 }),
];

test("a delegation chain of signed, connected links verifies", () => {
  expect(judge(token({ delegation_chain: CHAIN })).status).toBe("valid");
});

test.each<[string, JsonObject[], string]>([
  [
    "a gap",
    [CHAIN[0]!, link(ISSUER, SUBJECT)],
    "capability rejected by chain binding: chain is broken",
  ],
  ["another end", [CHAIN[0]!], "capability rejected by chain binding: chain is broken"],
  [
    "time running back",
    [CHAIN[0]!, link(MIDDLE, SUBJECT, { timestamp: NOW - 60 })],
    "capability rejected by chain binding: time runs back",
  ],
  [
    "itself",
    [link(ISSUER, SUBJECT, { capability_id: "cap-test-0001" })],
    "capability rejected by chain binding: token is its own ancestor",
  ],
  [
    "a family budget",
    [link(ISSUER, SUBJECT, { aggregate_budget: {} })],
    "aggregate invocation enforcement is unavailable",
  ],
  [
    "a child binding",
    [link(ISSUER, SUBJECT, { child_binding: {} })],
    "capability rejected by chain binding",
  ],
  [
    "a foreign signature",
    [{ ...link(ISSUER, SUBJECT), signature: SIGNATURE }],
    "signature did not verify",
  ],
])("a chain with %s is refused", (_what, chain, reason) => {
  expect(judge(token({ delegation_chain: chain })).reason).toBe(
    `capability verification failed: ${reason}`,
  );
});

test("a share of a parent nobody registered is refused", () => {
  expect(judge(token({ delegation_chain: CHAIN, budget_share_bps: 5000 })).reason).toBe(
    "capability verification failed: capability rejected by sibling-sum budget: parent capability cap-parent is not registered",
  );
});

const STEP = { server_id: "ag-ui", tool_name: "submit" };
test.each<[string, JsonObject, boolean]>([
  ["removed another tool", { type: "remove_tool", server_id: "ag-ui", tool_name: "alert" }, true],
  ["removed this tool", { type: "remove_tool", ...STEP }, false],
  ["removed another operation", { type: "remove_operation", ...STEP, operation: "read" }, true],
  ["removed this operation", { type: "remove_operation", ...STEP, operation: "invoke" }, false],
  [
    "added a constraint that is there",
    { type: "add_constraint", ...STEP, constraint: SESSION },
    true,
  ],
  [
    "added one that is not",
    { type: "add_constraint", ...STEP, constraint: custom("a", "b") },
    false,
  ],
  ["set a later end", { type: "shorten_expiry", new_expires_at: 1_744_994_200 }, true],
  ["set an earlier end", { type: "shorten_expiry", new_expires_at: 1_744_994_199 }, false],
  [
    "reduced a budget that is not there",
    { type: "reduce_budget", ...STEP, max_invocations: 1 },
    false,
  ],
  ["did something unknown", { type: "pray" }, false],
])("a step that %s is kept: %j %j", (_what, step, isKept) => {
  const chain = [link(ISSUER, SUBJECT, { attenuations: [step] })];
  expect(judge(token({ delegation_chain: chain })).status).toBe(isKept ? "valid" : "rejected");
});

test("revoking an ancestor of the chain ends the token", () => {
  const revocations = createRevocationList([{ capability_id: "cap-root", revoked_at: NOW }]);
  expect(judge(token({ delegation_chain: CHAIN }), CONTEXT, { revocations })).toMatchObject({
    status: "revoked",
    reason: "capability has been revoked: delegation ancestor has been revoked",
  });
  expect(judge(token(), CONTEXT, { revocations }).status).toBe("valid");
});

test("one token keeps one array of scopes per set of grants", () => {
  const one = verifier();
  const first = evaluateNow(one, token(), CONTEXT).scopes;
  expect(evaluateNow(one, token(), CONTEXT).scopes).toBe(first);
});
