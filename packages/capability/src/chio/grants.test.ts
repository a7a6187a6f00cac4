import type { JsonObject, JsonValue } from "@countersign/core";
import { encodeHex } from "@countersign/core";
import { expect, test } from "vitest";
import { NOT_AUTHORIZED } from "../model/facts.js";
import { evaluateNow } from "../testing/fixtures.js";
import {
  constrained,
  CONTEXT,
  custom,
  granting,
  judge,
  MIDDLE,
  ON_MODAL,
  onModal,
  SESSION,
  SUBJECT,
  token,
  verifier,
  withPayload,
} from "../testing/chio.js";

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

test("a grant without the session never binds, and a payload cannot supply it", () => {
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

test("a grant for one principal allows nothing for another or for none, and a payload cannot supply it", () => {
  const alice = "jwt:https://login.example.org alice";
  const grant = constrained(custom("principal_id", alice));
  expect(onModal(judge(grant, { ...CONTEXT, principal: alice }))).toBeUndefined();
  expect(judge(grant, { ...CONTEXT, principal: "key:bob" }).status).toBe("wrong_principal");
  expect(judge(grant).status).toBe("wrong_principal");
  expect(judge(grant, withPayload({ principal_id: alice })).status).toBe("wrong_principal");
  const both = constrained(custom("principal_id", alice), custom("principal_id", "key:bob"));
  expect(judge(both, { ...CONTEXT, principal: alice }).status).toBe("wrong_principal");
});

test("other constraints do not read the name of a principal", () => {
  const alice = "jwt:https://login.example.org alice";
  const to = { type: "domain_exact", value: "shop.example" };
  const context = { ...withPayload({ url: "https://shop.example/" }), principal: alice };
  expect(onModal(judge(constrained(to, custom("principal_id", alice)), context))).toBeUndefined();
});

test("wildcards for server and tool hold for every class", () => {
  const facts = judge(granting({ server_id: "*", tool_name: "*" }));
  expect(facts.scopes).toEqual(["ui:*:modal:confirm-refund"]);
  expect(onModal(facts, "destroy")).toBeUndefined();
});

test.each(["regex_match", "max_transaction_amount_usd", "invented_tomorrow"])(
  "a constraint that cannot be evaluated denies: %s",
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
  ["domain_exact", "example.com", { host: "example.com", text: "evil.org/login" }, NOT_AUTHORIZED],
  ["domain_exact", "example.com", { host: "example.com", text: "www.evil.org?x" }, NOT_AUTHORIZED],
  ["domain_exact", "example.com", { host: "example.com", text: "evil\u3002org" }, NOT_AUTHORIZED],
  [
    "domain_exact",
    "example.com",
    { host: "example.com", text: "see https://evil.org" },
    NOT_AUTHORIZED,
  ],
  [
    "domain_exact",
    "example.com",
    { host: "example.com", text: "[x](HTTPS://evil.org)" },
    NOT_AUTHORIZED,
  ],
  [
    "domain_exact",
    "example.com",
    { host: "example.com", text: "https://example.com and //x://evil.org" },
    NOT_AUTHORIZED,
  ],
  [
    "domain_exact",
    "example.com",
    { host: "example.com", text: "see https://example.com/a, mail a@evil.org" },
    ALLOWED,
  ],
  [
    "domain_exact",
    "example.com",
    { host: "example.com", text: "a text. And/or one: more" },
    ALLOWED,
  ],
  ["domain_exact", "example.com", { host: "example.com", text: "example.com/a" }, ALLOWED],
  ["domain_exact", "example.com", { text: "see https://example.com/a" }, NOT_AUTHORIZED],
  ["domain_exact", "example.com", { text: "no address" }, NOT_AUTHORIZED],
  ["domain_glob", "*.example.com", { url: "https://a.example.com" }, ALLOWED],
  ["domain_glob", "*.example.com", { url: "https://a.b.example.com" }, NOT_AUTHORIZED],
  ["domain_glob", "**.example.com", { url: "https://a.b.example.com" }, ALLOWED],
  ["domain_glob", "*.example.com", { url: "https://example.com" }, NOT_AUTHORIZED],
  ["custom", ["tier", "gold"], { customer: { tier: "gold" } }, ALLOWED],
  ["custom", ["tier", "gold"], { customer: { tier: "lead" } }, NOT_AUTHORIZED],
  ["custom", ["tier", "gold"], { tier: "gold", customer: { tier: "gold" } }, ALLOWED],
  ["custom", ["tier", "gold"], { tier: "gold", customer: { tier: "lead" } }, NOT_AUTHORIZED],
  ["custom", ["tier", "gold"], { tier: "lead", note: [{ tier: "gold" }] }, NOT_AUTHORIZED],
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

test("a constraint about the payload denies without a payload", () => {
  expect(judge(constrained({ type: "max_length", value: 1000 }))).toMatchObject({
    status: "rejected",
    reason: NOT_AUTHORIZED,
  });
});

test("max_invocations counts delivered events", () => {
  const one = verifier();
  const limited = granting({ max_invocations: 2 });
  for (let event = 0; event < 2; event++) {
    const facts = evaluateNow(one, limited, CONTEXT);
    expect(onModal(facts)).toBeUndefined();
    one.spend(facts);
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
