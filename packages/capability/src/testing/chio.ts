import type { JsonObject, JsonValue } from "@countersign/core";
import { canonicalJson, encodeHex } from "@countersign/core";
import { createSigner } from "@countersign/core/sign";
import type { CapabilityContext, CapabilityFacts } from "../model/facts.js";
import type { CapabilityVerifier, CapabilityVerifierOptions } from "../verifier/verifier.js";
import { evaluateNow, fakeClock, testKey, testVerifier } from "./fixtures.js";

export const ISSUER = testKey(8);
export const SUBJECT = testKey(9);
export const MIDDLE = testKey(10);
export const NOW = 1_744_994_000;
export const CONTEXT: CapabilityContext = { agent: "agent-support", sessionId: "sess_01" };
export const MODAL = { component_type: "modal", component_id: "confirm-refund" };

export const BODY =
  '{"expires_at":1744994200,"id":"cap-test-0001","issued_at":1744993900,"issuer":"1398f62c6d1a457c51ba6a4b5f3dbd2f69fca93216218dc8997e416bd17d93ca","schema":"chio.capability.v1","scope":{"grants":[{"constraints":[{"type":"custom","value":["session_id","sess_01"]},{"type":"custom","value":["target_component_type","modal"]},{"type":"custom","value":["target_component_id","confirm-refund"]}],"operations":["invoke"],"server_id":"ag-ui","tool_name":"submit"}]},"subject":"fd1724385aa0c75b64fb78cd602fa1d991fdebf76b13c58ed702eac835e9f618"}';
export const SIGNATURE =
  "9a78adb7d2205bca900763ad65f737fc7e915e3dc9ba46a03d2c4746b165803bd686e080982f19d56222bc58df9fb2d8f1e191cc831f393419cd587ce1824a0b";
export const WITHOUT_SCHEMA =
  "c446b684a1df5ebb29f8fa4b38ce0a3758698dc72504c72b052ba1b80a1efa95579f60c5b3d1bc5a2d0b94fbe898d082088676ccf86b4a9f7ce711ae1654e30b";

export const body = (): JsonObject => JSON.parse(BODY) as JsonObject;
export const verifier = (options: Partial<CapabilityVerifierOptions> = {}): CapabilityVerifier =>
  testVerifier({ issuers: [ISSUER.publicKey], clock: fakeClock(NOW), ...options });
export const judge = (
  token: JsonValue,
  context: CapabilityContext = CONTEXT,
  options: Partial<CapabilityVerifierOptions> = {},
): CapabilityFacts => evaluateNow(verifier(options), token, context);

export function sign(value: JsonObject, key = ISSUER): string {
  const { signature: _old, algorithm: _algorithm, ...signed } = value;
  return encodeHex(createSigner(key).sign(new TextEncoder().encode(canonicalJson(signed))));
}

/** The test vector with changes, signed again. */
export function token(changes: JsonObject = {}): JsonObject {
  const value = { ...body(), ...changes };
  return { ...value, signature: sign(value) };
}

export const custom = (key: string, value: string): JsonObject => ({
  type: "custom",
  value: [key, value],
});
export const SESSION = custom("session_id", "sess_01");
export const ON_MODAL = [
  SESSION,
  custom("target_component_type", "modal"),
  custom("target_component_id", "confirm-refund"),
];
export const granting = (grant: JsonObject): JsonObject =>
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
export const constrained = (...constraints: JsonObject[]): JsonObject =>
  granting({ constraints: [...ON_MODAL, ...constraints] });
export const withPayload = (payload: JsonValue, id = "evt_1"): CapabilityContext => ({
  ...CONTEXT,
  event: { id, payload },
});
export const onModal = (facts: CapabilityFacts, classification = "submit"): string | undefined =>
  facts.status === "valid"
    ? facts.authorize?.({}, { classification, target: MODAL })
    : facts.reason;
