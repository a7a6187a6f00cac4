import type { JsonValue } from "@countersign/core";
import type { CapabilityFacts } from "@countersign/policy";

/** The tokens that count for one run, each judged at the moment it is asked for. */
export type Capabilities = {
  /** Tokens that belong to the session or came with the agent's answer, newest first. */
  session(): readonly CapabilityFacts[];
  /** The token that came with one event. */
  presented(token: JsonValue): CapabilityFacts;
  /** Counts one delivered event against a token's allowance. */
  spend(id: string): void;
};

/** For gateways without an issuer to trust: no token ever opens anything. */
export const NO_CAPABILITIES: Capabilities = {
  session: () => [],
  presented: () => ({ id: "<unverified>", status: "untrusted_issuer", scopes: [] }),
  spend: () => {},
};
