import { CLASSIFICATIONS, isCountersignError } from "@countersign/core";
import * as fc from "fast-check";
import type { CapabilityFacts as PolicyCapabilityFacts, EventFacts } from "@countersign/policy";
import { compilePolicy, NO_COUNTERS } from "@countersign/policy";
import { expect, test } from "vitest";
import { MAX_NARROWINGS } from "../model/limits.js";
import { createRevocationList } from "../revocation/revocation.js";
import type { Narrowing } from "../issue/narrow.js";
import { narrowCapability } from "../issue/narrow.js";
import {
  CONTEXT,
  evaluateNow,
  HOLDER_KEY,
  issue,
  NOW,
  signRaw,
  STRANGER_KEY,
  testVerifier,
} from "../testing/fixtures.js";
import { keyName, keyThumbprint, toJwk } from "../trust/public-key.js";
import { parentDigest } from "./chain.js";
import { TOKEN_TYPE } from "./compact.js";

const HOLDER = HOLDER_KEY.publicKey;
const held = (changes: Parameters<typeof issue>[0] = {}): Promise<string> =>
  issue({ holder: HOLDER, maxEvents: 10, ...changes });
const narrow = async (token: string, narrowing: Narrowing = {}): Promise<string> =>
  (await narrowCapability(token, HOLDER_KEY, narrowing)).token;

/** A link with any content, correctly signed by the holder: what a dishonest holder can create. */
function dishonest(parent: string, changes: object, key = HOLDER_KEY): string {
  const header = { alg: "EdDSA", kid: keyThumbprint(key.publicKey), typ: TOKEN_TYPE };
  const claims = {
    jti: "cap-1/x",
    iss: keyName(key.publicKey),
    sub: "agent-support",
    sid: "sess_01",
    scope: ["ui:submit:modal:confirm-refund"],
    nbf: NOW - 100,
    exp: NOW + 100,
    max_events: 10,
    parent: parentDigest(parent),
    ...changes,
  };
  return `${parent}~${signRaw(JSON.stringify(header), JSON.stringify(claims), key)}`;
}

test("a narrowed token is valid with the id of its path", async () => {
  const token = await narrow(await held(), { id: "helper", scopes: ["ui:display:*"] });
  expect(evaluateNow(testVerifier(), token)).toMatchObject({
    id: "cap-1/helper",
    status: "valid",
    scopes: ["ui:display:*"],
  });
});

test("a token with a holder allows nothing by itself, so removing links gains nothing", async () => {
  const parent = await held();
  const middle = await narrow(parent, { id: "a", holder: HOLDER });
  const leaf = await narrow(middle, { id: "b", scopes: ["ui:display:*"] });
  expect(evaluateNow(testVerifier(), leaf).status).toBe("valid");
  for (const cut of [parent, middle]) {
    expect(evaluateNow(testVerifier(), cut)).toMatchObject({
      status: "rejected",
      reason: "capability verification failed: token must be narrowed by its holder before use",
      scopes: [],
    });
  }
  const [root, , last] = leaf.split("~");
  expect(evaluateNow(testVerifier(), `${root}~${last}`)).toMatchObject({
    status: "rejected",
    reason: "capability verification failed: narrowing belongs to another token",
  });
  expect(evaluateNow(testVerifier(), last ?? "").status).not.toBe("valid");
});

test.each<[string, object]>([
  ["sub", { sub: "agent-admin" }],
  ["sid", { sid: "sess_02" }],
  ["sid", { sid: undefined }],
  ["scope", { scope: ["ui:submit:*"] }],
  ["scope", { scope: ["ui:submit:modal:confirm-refund", "ui:navigate:page"] }],
  ["nbf", { nbf: NOW - 101 }],
  ["exp", { exp: NOW + 101 }],
  ["max_events", { max_events: 11 }],
  ["max_events", { max_events: undefined }],
])("a chain that widens %s is refused by that name (%j)", async (field, changes) => {
  const parent = await held();
  expect(evaluateNow(testVerifier(), dishonest(parent, {})).status).toBe("valid");
  expect(evaluateNow(testVerifier(), dishonest(parent, changes))).toMatchObject({
    status: "rejected",
    reason: `capability verification failed: narrowing widens ${field}`,
    scopes: [],
  });
});

test.each<[string, Narrowing]>([
  ["sid", { sessionId: "sess_02" }],
  ["scope", { scopes: ["ui:*:*"] }],
  ["nbf", { notBefore: 0 }],
  ["exp", { expiresAt: NOW + 101 }],
  ["max_events", { maxEvents: 11 }],
])("narrowing refuses to widen %s", async (field, narrowing) => {
  const refusal = await narrow(await held(), narrowing).catch((error: unknown) => error);
  expect(isCountersignError(refusal, "ERR_CAPABILITY_WIDENS") && refusal.facts.field).toBe(field);
});

test("only the holder can narrow", async () => {
  const parent = await held();
  await expect(narrowCapability(parent, STRANGER_KEY)).rejects.toMatchObject({
    code: "ERR_CAPABILITY_NOT_HOLDER",
  });
  await expect(narrowCapability(await issue(), HOLDER_KEY)).rejects.toMatchObject({
    code: "ERR_CAPABILITY_NOT_HOLDER",
  });
  expect(evaluateNow(testVerifier(), dishonest(parent, {}, STRANGER_KEY)).reason).toBe(
    "capability verification failed: narrowing is not signed by the holder",
  );
  const forged = dishonest(parent, { iss: keyName(HOLDER) }, STRANGER_KEY);
  expect(evaluateNow(testVerifier(), forged).status).toBe("rejected");
  const bearer = await issue();
  expect(evaluateNow(testVerifier(), dishonest(bearer, {})).reason).toBe(
    "capability verification failed: token has no holder who could narrow it",
  );
});

test("a holder cannot use the id of another token", async () => {
  for (const jti of ["cap-2", "cap-1", "cap-2/x", "cap-1/x/y"]) {
    expect(evaluateNow(testVerifier(), dishonest(await held(), { jti })).reason).toBe(
      "capability verification failed: narrowing has an id of another token",
    );
  }
});

test("revoking a token ends everything narrowed from it, and nothing beside it", async () => {
  const revocations = createRevocationList();
  const verifier = testVerifier({ revocations });
  const parent = await held();
  const middle = await narrow(parent, { id: "a", holder: HOLDER });
  const leaf = await narrow(middle, { id: "b" });
  const sibling = await narrow(parent, { id: "c" });
  expect(evaluateNow(verifier, leaf).status).toBe("valid");
  revocations.revoke({ capability_id: "cap-1/a", revoked_at: NOW });
  expect(evaluateNow(verifier, leaf)).toMatchObject({
    status: "revoked",
    reason: "capability has been revoked: delegation ancestor has been revoked",
  });
  expect(evaluateNow(verifier, sibling).status).toBe("valid");
});

test("a token is narrowed eight times and not nine", async () => {
  let token = await issue({ scopes: ["ui:display:*"], holder: HOLDER });
  for (let link = 1; link < MAX_NARROWINGS; link++) {
    token = await narrow(token, { id: `n${link}`, holder: HOLDER });
  }
  const whole = await narrow(token, { id: "last" });
  expect(evaluateNow(testVerifier(), whole).status).toBe("valid");
  const open = await narrow(token, { id: "more", holder: HOLDER });
  await expect(narrow(open)).rejects.toMatchObject({
    code: "ERR_CAPABILITY_MALFORMED",
    facts: { what: "number of narrowings" },
  });
  expect(evaluateNow(testVerifier(), `${open}~${whole.split("~").at(-1)}`).status).toBe(
    "malformed",
  );
});

test("a scope text that a holder wrote does not count as the issuer's exact scope", async () => {
  const exact = "ui:submit:modal:confirm-refund";
  const parent = await held({ scopes: ["ui:submit:*"] });
  const facts = evaluateNow(testVerifier(), await narrow(parent, { scopes: [exact] }));
  expect(facts.scopes).toEqual(["ui:submit:*"]);
  const target = { component_type: "modal", component_id: "confirm-refund" };
  expect(facts.authorize?.({}, { classification: "submit", target })).toBeUndefined();
  expect(facts.authorize?.({}, { classification: "submit" })).toBe(
    "capability scope does not authorize this AG-UI event",
  );
});

test("a removed scope does not return by its text", async () => {
  const exact = "ui:submit:modal:confirm-refund";
  const parent = await held({ scopes: ["ui:submit:*", exact] });
  const middle = await narrow(parent, { scopes: ["ui:submit:*"], holder: HOLDER });
  expect(evaluateNow(testVerifier(), await narrow(middle, { scopes: [exact] })).scopes).toEqual([
    "ui:submit:*",
  ]);
  expect(evaluateNow(testVerifier(), await narrow(parent, { scopes: [exact] })).scopes).toEqual([
    exact,
  ]);
});

const TYPES = ["modal", "toast"];
const IDS = ["a", "b"];
const scope = fc
  .tuple(
    fc.constantFrom("*", "submit", "alert", "display"),
    fc.constantFrom("*", ...TYPES),
    fc.constantFrom("", ":a", ":b", ":*"),
  )
  .map(([classification, type, id]) => `ui:${classification}:${type}${id}`);
const scopeList = fc.uniqueArray(scope, { minLength: 1, maxLength: 4 });
/**
 * How a link is derived from its parent's scopes: which ones stay, and how their wildcards are
 * replaced.
 */
const step = fc.array(
  fc.tuple(
    fc.nat(3),
    fc.constantFrom("*", "submit", "alert"),
    fc.constantFrom("*", ...TYPES),
    fc.constantFrom("", ":a", ":b"),
  ),
  { minLength: 1, maxLength: 4 },
);

function refineScopes(
  scopes: readonly string[],
  choices: readonly (readonly [number, string, string, string])[],
): string[] {
  const refined = choices.map(([index, classification, type, id]) => {
    const [, ownClass = "", ownType = "", ownId = ""] = (scopes[index % scopes.length] ?? "").split(
      ":",
    );
    const first = `ui:${ownClass === "*" ? classification : ownClass}:${ownType === "*" ? type : ownType}`;
    return ownId === "" || ownId === "*" ? first + id : `${first}:${ownId}`;
  });
  return [...new Set(refined)];
}

const EVENTS: EventFacts[] = CLASSIFICATIONS.flatMap((classification) =>
  [
    undefined,
    ...TYPES.flatMap((type) => [
      { component_type: type },
      ...IDS.map((id) => ({ component_type: type, component_id: id })),
    ]),
  ].map((target): EventFacts => ({
    source: "CUSTOM",
    direction: "outbound",
    eventType: "custom",
    classification,
    derived: classification,
    ...(target === undefined ? {} : { target }),
  })),
);

test("any chain of narrowings allows a subset of its parent, under any policy", async () => {
  await fc.assert(
    fc.asyncProperty(
      scopeList,
      fc.array(step, { minLength: 1, maxLength: 4 }),
      fc.record({
        restricted: fc.subarray([...CLASSIFICATIONS]),
        open: fc.boolean(),
        exact: fc.array(
          fc.tuple(
            scope,
            fc.constantFrom(...TYPES),
            fc.option(fc.constantFrom(...IDS), { nil: undefined }),
          ),
          { maxLength: 3 },
        ),
      }),
      async (scopes, steps, { restricted, open, exact }) => {
        const policy = compilePolicy({
          hushspec: "0.1.0",
          rules: {
            ag_ui: {
              restricted_classifications: restricted,
              allow_display_without_capability: open,
              capability_scopes: exact.map(([scope_id, type, id]) => ({
                scope_id,
                allow_targets: [
                  { component_type: type, ...(id === undefined ? {} : { component_id: id }) },
                ],
              })),
            },
          },
        });
        const verifier = testVerifier();
        const opened = (token: string): EventFacts[] => {
          // The policy's own type: a policy accepts the result of a verifier.
          const capability: PolicyCapabilityFacts = evaluateNow(verifier, token);
          expect(capability.status).toBe("valid");
          return EVENTS.filter(
            (event) =>
              policy.evaluate({ event, transport: "sse", counters: NO_COUNTERS, capability }).allow,
          );
        };
        let token = await held({ scopes });
        let above = opened(await narrow(token));
        expect(above).toEqual(opened(await issue({ scopes })));
        let current: readonly string[] = scopes;
        for (const choices of steps) {
          current = refineScopes(current, choices);
          token = await narrow(token, { scopes: current, holder: HOLDER });
          const below = opened(await narrow(token));
          expect(above).toEqual(expect.arrayContaining(below));
          above = below;
        }
      },
    ),
    {
      numRuns: 60,
      // A past bug: a refined scope was compared with the wrong, unrefined one.
      examples: [
        [
          ["ui:*:*", "ui:*:*:a", "ui:alert:toast:a"],
          [
            [
              [0, "*", "modal", ""],
              [2, "*", "*", ""],
              [0, "*", "*", ":b"],
            ],
            [[1, "*", "*", ""]],
          ],
          { restricted: [], open: false, exact: [["ui:alert:toast:a", "toast", undefined]] },
        ],
      ],
    },
  );
});

test("a narrowed token has its own holder: the first holder cannot narrow further", async () => {
  const token = await narrow(await held(), { holder: toJwk(STRANGER_KEY.publicKey) });
  await expect(narrow(token)).rejects.toMatchObject({ code: "ERR_CAPABILITY_NOT_HOLDER" });
  const { token: leaf } = await narrowCapability(token, STRANGER_KEY, { maxEvents: 1 });
  expect(evaluateNow(testVerifier(), leaf, CONTEXT).status).toBe("valid");
});
