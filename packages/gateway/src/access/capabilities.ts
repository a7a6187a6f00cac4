import type { JsonValue } from "@countersign/core";
import type { CapabilityFacts } from "@countersign/policy";

/** The event a token is asked about: constraints may look into its payload. */
export type TokenSubject = { readonly id?: string; readonly payload?: JsonValue };

/** The tokens that count for one run, each judged at the moment it is asked for. */
export type Capabilities = {
  /** Tokens that belong to the session or came with the agent's answer, newest first. */
  session(subject?: TokenSubject): readonly CapabilityFacts[];
  /** The token that came with one event. */
  presented(token: JsonValue, subject?: TokenSubject): CapabilityFacts;
  /** Counts one delivered event against the allowance of a token that was judged here. */
  spend(facts: CapabilityFacts): void;
};

/** Where a token is presented. `principal` is absent where the client showed no credential. */
export type TokenContext = {
  readonly agent: string;
  readonly sessionId: string;
  readonly principal?: string;
};

/** Looks at tokens; synchronous, because a decision never waits. */
export type TokenVerifier = {
  evaluate(
    token: JsonValue,
    context: TokenContext & { readonly event?: TokenSubject },
  ): CapabilityFacts;
  spend(facts: CapabilityFacts): void;
  /**
   * Sees to it that so many events of a limited token can be opened, as far as they can be had; a promise where that
   * has to be asked for, which resolves in any case. `isPatient` waits for what other gateways may give back.
   */
  reserve?(
    token: JsonValue,
    context: TokenContext,
    events: number,
    isPatient?: boolean,
  ): Promise<void> | undefined;
  /** Nobody needs what is reserved of these for now. */
  settle?(tokens: Iterable<JsonValue>): void;
};
