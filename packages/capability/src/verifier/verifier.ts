import type { JsonValue } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import type { ChioAgents, ChioOptions } from "../chio/agents.js";
import { createChioAgents } from "../chio/agents.js";
import { readChio } from "../chio/read-chio.js";
import type { CapabilityContext, CapabilityFacts } from "../model/facts.js";
import { MALFORMED_ID, refuse } from "../model/facts.js";
import type { RevocationSource } from "../revocation/revocation.js";
import { readToken } from "../token/read-token.js";
import type { TrustedIssuer, TrustList } from "../trust/trust-list.js";
import { createTrustList } from "../trust/trust-list.js";
import type { Allowance, AuthenticToken, Reading } from "../model/authentic.js";
import { conclude } from "./conclude.js";
import type { ForgeryLimit } from "./forgeries.js";
import { createForgeryCounter } from "./forgeries.js";
import { tokenKey } from "./key.js";
import { createRecent } from "./recent.js";
import type { VerifySignature } from "../model/signatures.js";
import { verifySignatures } from "../model/signatures.js";
import type { SpendingBook } from "../model/spending.js";
import { createSpendingBook } from "../model/spending.js";

/** What a verifier rests on. */
export type CapabilityVerifierOptions = {
  /** Who may issue: keys, or names with keys. */
  readonly issuers: readonly TrustedIssuer[];
  readonly revocations: RevocationSource;
  /** `now` in milliseconds. */
  readonly clock: { now(): number };
  /** Tokens remembered at once, authentic and refused ones separately; 10,000 each. */
  readonly cache?: number;
  readonly spending?: SpendingBook;
  /** 32 forgeries per session and minute unless told otherwise. */
  readonly forgeries?: ForgeryLimit;
  readonly chio?: ChioOptions;
  /** How signatures are checked; the runtime's own way unless told otherwise. */
  readonly verify?: VerifySignature;
};

/** Judges tokens where they are presented. Never throws on data; undecided is refused. */
export type CapabilityVerifier = {
  /** What a token is worth here and now: at once in Node, as a promise where WebCrypto verifies. */
  evaluate(
    token: JsonValue,
    context: CapabilityContext,
  ): CapabilityFacts | Promise<CapabilityFacts>;
  /** Counts one delivered event against a token, by what `evaluate` answered, and the tokens it was narrowed from. */
  spend(facts: Pick<CapabilityFacts, "id">): void;
  /**
   * The limits a token is under: its own and those of the tokens it was narrowed from; `undefined` for one that was
   * not found authentic, or is no longer remembered.
   */
  allowances(token: JsonValue): readonly Allowance[] | undefined;
};

/** Token texts kept whole: at most 4 MiB of ours. */
const TEXTS_AT_HAND = 256;

const INTERNAL = "capability verification failed: internal verification error";
const TOO_MANY = "capability verification failed: too many forged tokens in this session";

/**
 * Makes a verifier. Bytes are bounded first, then a token is looked up by its hash, then read, then its
 * issuer's key is looked up; only what passed all that costs a signature check, once per token.
 *
 * @throws CountersignError `ERR_CAPABILITY_KEY` on an issuer's key that cannot be read
 * @throws TypeError on options that make no sense
 */
export function createCapabilityVerifier(options: CapabilityVerifierOptions): CapabilityVerifier {
  const { revocations, clock, cache = 10_000, spending = createSpendingBook() } = options;
  if (!Number.isSafeInteger(cache) || cache < 1)
    throw new TypeError("cache must be a positive integer");
  const trust = createTrustList(options.issuers);
  const agents = createChioAgents(options.chio);
  const authentic = createRecent<AuthenticToken>(cache);
  // Hashing 521 characters is most of what a known token costs, and a session presents the same text
  // with every event. Only authentic texts get here, so a flood of others cannot push them out.
  const atHand = createRecent<AuthenticToken>(TEXTS_AT_HAND);
  const refused = createRecent<CapabilityFacts>(cache);
  // As long as somebody has the answer: an allowance forgotten there would not be counted.
  const spenders = new WeakMap<Pick<CapabilityFacts, "id">, AuthenticToken>();
  const forgeries = createForgeryCounter(options.forgeries ?? { count: 32, windowSeconds: 60 });
  const seconds = (): number => Math.floor(clock.now() / 1000);

  const settle = (token: AuthenticToken, context: CapabilityContext): CapabilityFacts => {
    const facts = conclude(token, context, { now: seconds(), revocations, spending });
    if (facts.status === "valid" && token.allowances.length > 0) spenders.set(facts, token);
    return facts;
  };

  const finish = (
    key: string,
    token: AuthenticToken,
    context: CapabilityContext,
    holds: boolean,
  ): CapabilityFacts => {
    if (holds) {
      authentic.set(key, token);
      return settle(token, context);
    }
    forgeries.note(placeOf(context), seconds());
    const refusal = refuse(token.id, "bad_signature");
    refused.set(key, refusal);
    return refusal;
  };

  const evaluate = (
    value: JsonValue,
    context: CapabilityContext,
  ): CapabilityFacts | Promise<CapabilityFacts> => {
    const same = typeof value === "string" ? atHand.get(value) : undefined;
    if (same !== undefined) return settle(same, context);
    const key = tokenKey(value);
    if (key === undefined) return refuse(MALFORMED_ID, "malformed");
    const known = authentic.get(key);
    if (known !== undefined) {
      if (typeof value === "string") atHand.set(value, known);
      return settle(known, context);
    }
    const rejected = refused.get(key);
    if (rejected !== undefined) return rejected;
    const reading = read(value, trust, agents);
    if ("refusal" in reading) {
      refused.set(key, reading.refusal);
      return reading.refusal;
    }
    const { token, checks } = reading;
    if (forgeries.isOver(placeOf(context), seconds()))
      return refuse(token.id, "rejected", TOO_MANY);
    const holds = verifySignatures(checks, options.verify);
    if (typeof holds === "boolean") return finish(key, token, context, holds);
    return holds.then(
      (answer) => finish(key, token, context, answer),
      () => refuse(token.id, "rejected", INTERNAL),
    );
  };

  return {
    evaluate(value, context) {
      try {
        return evaluate(value, context);
      } catch {
        // A store that is down or a clock that throws: undecided is refused.
        return refuse(MALFORMED_ID, "rejected", INTERNAL);
      }
    },
    spend(facts) {
      for (const allowance of spenders.get(facts)?.allowances ?? []) {
        spending.count(allowance.id, allowance.expiresAt);
      }
    },
    allowances(value) {
      const same = typeof value === "string" ? atHand.get(value) : undefined;
      if (same !== undefined) return same.allowances;
      const key = tokenKey(value);
      return key === undefined ? undefined : authentic.get(key)?.allowances;
    },
  };
}

function placeOf({ agent, sessionId }: CapabilityContext): string {
  return `${agent.length}:${agent}${sessionId}`;
}

function read(value: JsonValue, trust: TrustList, agents: ChioAgents): Reading {
  try {
    return typeof value === "string" && !value.startsWith("{")
      ? readToken(value, trust)
      : readChio(value, trust, agents);
  } catch (error) {
    if (isCountersignError(error)) return { refusal: refuse(MALFORMED_ID, "malformed") };
    throw error;
  }
}
