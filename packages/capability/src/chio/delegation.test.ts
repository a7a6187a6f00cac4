import type { JsonObject } from "@countersign/core";
import { encodeHex } from "@countersign/core";
import { expect, test } from "vitest";
import { createRevocationList } from "../revocation/revocation.js";
import {
  CONTEXT,
  custom,
  ISSUER,
  judge,
  MIDDLE,
  NOW,
  SESSION,
  sign,
  SIGNATURE,
  SUBJECT,
  token,
} from "../testing/chio.js";

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

test("a share of an unregistered parent is refused", () => {
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
  ["added an existing constraint", { type: "add_constraint", ...STEP, constraint: SESSION }, true],
  [
    "added a missing constraint",
    { type: "add_constraint", ...STEP, constraint: custom("a", "b") },
    false,
  ],
  ["set a later end", { type: "shorten_expiry", new_expires_at: 1_744_994_200 }, true],
  ["set an earlier end", { type: "shorten_expiry", new_expires_at: 1_744_994_199 }, false],
  ["reduced a missing budget", { type: "reduce_budget", ...STEP, max_invocations: 1 }, false],
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
