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
import { evaluateToken } from "./evaluate-token.js";
import type { ForgeryLimit } from "./forgery-counter.js";
import { createForgeryCounter } from "./forgery-counter.js";
import { tokenKey } from "./key.js";
import { createLruCache } from "./lru-cache.js";
import type { VerifySignature } from "../model/signatures.js";
import { verifySignatures } from "../model/signatures.js";
import type { SpendingBook } from "../model/spending.js";
import { createSpendingBook } from "../model/spending.js";

/** Options of {@link createCapabilityVerifier}. */
export type CapabilityVerifierOptions = {
  /** The trusted issuers: keys, or names with keys. */
  readonly issuers: readonly TrustedIssuer[];
  readonly revocations: RevocationSource;
  /** `now` in milliseconds. */
  readonly clock: { now(): number };
  /** Maximum number of cached tokens, valid and rejected ones separately; default 10,000 each. */
  readonly cache?: number;
  readonly spending?: SpendingBook;
  /** Default: 32 forgeries per session and minute. */
  readonly forgeries?: ForgeryLimit;
  readonly chio?: ChioOptions;
  /** Verifies signatures; default: the runtime's implementation. */
  readonly verify?: VerifySignature;
};

/** Verifies tokens in a context. Never throws on data; undecided means rejected. */
export type CapabilityVerifier = {
  /** Verifies a token now: synchronously in Node, as a promise with WebCrypto. */
  evaluate(
    token: JsonValue,
    context: CapabilityContext,
  ): CapabilityFacts | Promise<CapabilityFacts>;
  /**
   * Counts one delivered event against a token, given the result of `evaluate`, and against its
   * parents.
   */
  spend(facts: Pick<CapabilityFacts, "id">): void;
  /**
   * The limits of a token: its own and those of its parents; `undefined` for a token that is not
   * authentic, or no longer cached.
   */
  allowances(token: JsonValue): readonly Allowance[] | undefined;
};

/** Token texts cached by their full text: at most 4 MiB of ours. */
const MAX_CACHED_TEXTS = 256;

const INTERNAL = "capability verification failed: internal verification error";
const TOO_MANY = "capability verification failed: too many forged tokens in this session";

/**
 * Creates a verifier. It bounds the bytes first, then looks the token up by its hash, parses it,
 * and looks up the issuer's key. Only a token that passes all this costs a signature check, once
 * per token.
 *
 * @throws CountersignError `ERR_CAPABILITY_KEY` on an invalid issuer key
 * @throws TypeError on invalid options
 */
export function createCapabilityVerifier(options: CapabilityVerifierOptions): CapabilityVerifier {
  const { revocations, clock, cache = 10_000, spending = createSpendingBook() } = options;
  if (!Number.isSafeInteger(cache) || cache < 1)
    throw new TypeError("cache must be a positive integer");
  const trust = createTrustList(options.issuers);
  const agents = createChioAgents(options.chio);
  const authentic = createLruCache<AuthenticToken>(cache);
  // Hashing 521 characters is most of the cost of a known token, and a session presents the same
  // text with every event. Only authentic texts get here, so a flood of others cannot evict them.
  const byText = createLruCache<AuthenticToken>(MAX_CACHED_TEXTS);
  const refused = createLruCache<CapabilityFacts>(cache);
  // Kept as long as the caller holds the facts: an allowance dropped earlier would not be counted.
  const spenders = new WeakMap<Pick<CapabilityFacts, "id">, AuthenticToken>();
  const forgeries = createForgeryCounter(options.forgeries ?? { count: 32, windowSeconds: 60 });
  const seconds = (): number => Math.floor(clock.now() / 1000);

  const settle = (token: AuthenticToken, context: CapabilityContext): CapabilityFacts => {
    const facts = evaluateToken(token, context, { now: seconds(), revocations, spending });
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
    forgeries.record(sessionKey(context), seconds());
    const refusal = refuse(token.id, "bad_signature");
    refused.set(key, refusal);
    return refusal;
  };

  const evaluate = (
    value: JsonValue,
    context: CapabilityContext,
  ): CapabilityFacts | Promise<CapabilityFacts> => {
    const same = typeof value === "string" ? byText.get(value) : undefined;
    if (same !== undefined) return settle(same, context);
    const key = tokenKey(value);
    if (key === undefined) return refuse(MALFORMED_ID, "malformed");
    const known = authentic.get(key);
    if (known !== undefined) {
      if (typeof value === "string") byText.set(value, known);
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
    if (forgeries.isOver(sessionKey(context), seconds()))
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
        // A store that is down or a clock that throws: undecided means rejected.
        return refuse(MALFORMED_ID, "rejected", INTERNAL);
      }
    },
    spend(facts) {
      for (const allowance of spenders.get(facts)?.allowances ?? []) {
        spending.count(allowance.id, allowance.expiresAt);
      }
    },
    allowances(value) {
      const same = typeof value === "string" ? byText.get(value) : undefined;
      if (same !== undefined) return same.allowances;
      const key = tokenKey(value);
      return key === undefined ? undefined : authentic.get(key)?.allowances;
    },
  };
}

function sessionKey({ agent, sessionId }: CapabilityContext): string {
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
