/**
 * The cost of a token for the gateway, compared with one bare signature check on the same machine.
 * A known token must cost next to nothing, a forged one never more than one check, and a forging
 * session less than that.
 */
import type { CapabilityVerifier } from "@countersign/capability";
import { createCapabilityVerifier, createRevocationList } from "@countersign/capability";
import { createCapabilityIssuer, narrowCapability } from "@countersign/capability/issue";
import { createSigner, generateKey } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import { compare, report } from "./harness.js";
import type { Case } from "./harness.js";

const TOKENS = 64;
const CONTEXT = { agent: "support", sessionId: "sess_01" };
const key = generateKey();
const holder = generateKey();
const issuer = createCapabilityIssuer({ key });
const now = Math.floor(Date.now() / 1000);

async function issue(changes: { holder?: Uint8Array } = {}): Promise<string> {
  const { token } = await issuer.issue({
    agent: "support",
    sessionId: "sess_01",
    scopes: ["ui:submit:modal:confirm-refund", "ui:display:*"],
    notBefore: now - 60,
    expiresAt: now + 86_400,
    ...changes,
  });
  return token;
}

async function narrowed(times: number): Promise<string> {
  let token = await issue({ holder: holder.publicKey });
  for (let link = 1; link < times; link++) {
    token = (await narrowCapability(token, holder, { holder: holder.publicKey })).token;
  }
  return (await narrowCapability(token, holder)).token;
}

async function many(make: () => Promise<string>): Promise<string[]> {
  return Promise.all(Array.from({ length: TOKENS }, make));
}

function verifier(forgeries = 1e9): CapabilityVerifier {
  return createCapabilityVerifier({
    issuers: [key.publicKey],
    revocations: createRevocationList(),
    clock: Date,
    forgeries: { count: forgeries, windowSeconds: 3600 },
  });
}

function evaluateAll(
  subject: CapabilityVerifier,
  tokens: readonly string[],
  status: string,
): number {
  for (const token of tokens) {
    const facts = subject.evaluate(token, CONTEXT);
    if (facts instanceof Promise || facts.status !== status) throw new Error(`expected ${status}`);
  }
  return tokens.length;
}

const tokens = await many(issue);
const chains = await many(() => narrowed(8));
const forged = tokens.map(
  (token, index) => token.slice(0, -86) + (tokens.at(index - 1) ?? "").slice(-86),
);
const message = new TextEncoder().encode(tokens[0]);
const signature = createSigner(key).sign(message);
const warm = verifier();
evaluateAll(warm, tokens, "valid");
evaluateAll(warm, forged, "bad_signature");

const cases: Case<CapabilityVerifier>[] = [
  {
    name: "one bare Ed25519 check",
    prepare: verifier,
    run: () => {
      for (let count = 0; count < TOKENS; count++) verifyEd25519(key.publicKey, message, signature);
      return TOKENS;
    },
  },
  { name: "new token", prepare: verifier, run: (fresh) => evaluateAll(fresh, tokens, "valid") },
  {
    name: "new token, narrowed 8 times",
    prepare: verifier,
    run: (fresh) => evaluateAll(fresh, chains, "valid"),
  },
  {
    name: "new forgery",
    prepare: verifier,
    run: (fresh) => evaluateAll(fresh, forged, "bad_signature"),
  },
  {
    name: "new forgery, session cut off",
    prepare: () => {
      const strict = verifier(1);
      strict.evaluate(`${(tokens[0] ?? "").slice(0, -86)}${"A".repeat(86)}`, CONTEXT);
      return strict;
    },
    run: (strict) => evaluateAll(strict, forged, "rejected"),
  },
  {
    name: "known token",
    prepare: verifier,
    run: () => {
      for (let round = 0; round < 50; round++) evaluateAll(warm, tokens, "valid");
      return 50 * TOKENS;
    },
  },
  {
    name: "known forgery",
    prepare: verifier,
    run: () => {
      for (let round = 0; round < 50; round++) evaluateAll(warm, forged, "bad_signature");
      return 50 * TOKENS;
    },
  },
];

report("capability", "Capability tokens", { "Tokens evaluated": compare(cases, { rounds: 15 }) });
