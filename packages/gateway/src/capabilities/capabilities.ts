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
