import type { CapabilityContext, CapabilityFacts } from "./facts.js";
import type { SpendingBook } from "./spending.js";
import type { SignatureCheck } from "./signatures.js";

/** How many events a token of the lineage may authorize, and until when (seconds). */
export type Allowance = {
  /** The key of the count: see `allowanceId`. */
  readonly id: string;
  readonly maxEvents: number;
  readonly expiresAt: number;
};

/** A token with valid signatures; its validity still depends on time, context and revocations. */
export type AuthenticToken = {
  readonly id: string;
  /** The ids whose revocation ends this token: its ancestors, then itself. */
  readonly lineage: readonly string[];
  /** Seconds. */
  readonly notBefore: number;
  readonly expiresAt: number;
  readonly allowances: readonly Allowance[];
  /** Facts for this agent and session, valid or not. */
  admit(context: CapabilityContext, spending: Pick<SpendingBook, "spent">): CapabilityFacts;
};

/** A parsed token: rejected without cryptography, or valid if its signatures are. */
export type Reading =
  | { readonly refusal: CapabilityFacts }
  | { readonly checks: readonly SignatureCheck[]; readonly token: AuthenticToken };
