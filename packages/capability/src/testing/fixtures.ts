import type { JsonValue } from "@countersign/core";
import { encodeBase64Url } from "@countersign/core";
import { createSigner, importPrivateKey } from "@countersign/core/sign";
import type { CapabilityContext, CapabilityFacts } from "../model/facts.js";
import type { CapabilityGrant } from "../issue/issue.js";
import { createCapabilityIssuer } from "../issue/issue.js";
import { createRevocationList } from "../revocation/revocation.js";
import type { CapabilityVerifier, CapabilityVerifierOptions } from "../verifier/verifier.js";
import { createCapabilityVerifier } from "../verifier/verifier.js";

/** A key from a seed of one repeated byte. */
export function testKey(byte: number): ReturnType<typeof importPrivateKey> {
  return importPrivateKey(new Uint8Array(32).fill(byte));
}

export const ISSUER_KEY = testKey(1);
export const HOLDER_KEY = testKey(2);
export const STRANGER_KEY = testKey(3);
export const NOW = 1_744_994_000;
export const CONTEXT: CapabilityContext = { agent: "agent-support", sessionId: "sess_01" };

export const GRANT: CapabilityGrant = {
  id: "cap-1",
  agent: "agent-support",
  sessionId: "sess_01",
  scopes: ["ui:submit:modal:confirm-refund", "ui:display:*"],
  notBefore: NOW - 100,
  expiresAt: NOW + 100,
};

export async function issue(
  changes: Partial<CapabilityGrant> = {},
  key = ISSUER_KEY,
): Promise<string> {
  return (await createCapabilityIssuer({ key }).issue({ ...GRANT, ...changes })).token;
}

/** A clock that stands still until `set`. */
export function fakeClock(seconds = NOW): { now(): number; set(seconds: number): void } {
  let milliseconds = seconds * 1000;
  return {
    now: () => milliseconds,
    set(next) {
      milliseconds = next * 1000;
    },
  };
}

export function testVerifier(options: Partial<CapabilityVerifierOptions> = {}): CapabilityVerifier {
  return createCapabilityVerifier({
    issuers: [ISSUER_KEY.publicKey],
    revocations: createRevocationList(),
    clock: fakeClock(),
    ...options,
  });
}

/** The facts, which Node must return synchronously. */
export function evaluateNow(
  verifier: CapabilityVerifier,
  token: JsonValue,
  context: CapabilityContext = CONTEXT,
): CapabilityFacts {
  const facts = verifier.evaluate(token, context);
  if (facts instanceof Promise) throw new TypeError("evaluate answered with a promise in Node");
  return facts;
}

/**
 * A compact JWS of exactly these texts, signed with a key, as a hostile or careless signer could
 * create it.
 */
export function signRaw(header: string, payload: string, key = ISSUER_KEY): string {
  const encode = (text: string): string => encodeBase64Url(new TextEncoder().encode(text));
  const input = `${encode(header)}.${encode(payload)}`;
  const signature = createSigner(key).sign(new TextEncoder().encode(input));
  return `${input}.${encodeBase64Url(signature)}`;
}
