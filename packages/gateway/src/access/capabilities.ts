import type { JsonValue } from "@countersign/core";
import type { CapabilityFacts } from "@countersign/policy";

/** The event that a token is evaluated for; constraints may read its payload. */
export type TokenSubject = { readonly id?: string; readonly payload?: JsonValue };

/** The tokens of one run, each evaluated at the moment it is used. */
export type Capabilities = {
  /** Tokens attached to the session or sent in the agent's response, newest first. */
  session(subject?: TokenSubject): readonly CapabilityFacts[];
  /** The token that an event carries. */
  presented(token: JsonValue, subject?: TokenSubject): CapabilityFacts;
  /** Counts one delivered event against the budget of a token that was evaluated here. */
  spend(facts: CapabilityFacts): void;
};

/** The context in which a token is presented. `principal` is absent if the client sent no credential. */
export type TokenContext = {
  readonly agent: string;
  readonly sessionId: string;
  readonly principal?: string;
};

/** Evaluates tokens. Synchronous, because a decision never waits. */
export type TokenVerifier = {
  evaluate(
    token: JsonValue,
    context: TokenContext & { readonly event?: TokenSubject },
  ): CapabilityFacts;
  spend(facts: CapabilityFacts): void;
  /**
   * Reserves up to this many events of a limited token. Returns a promise, which always resolves, if it asks the shared
   * store. `isPatient` waits for events that other gateways may return.
   */
  reserve?(
    token: JsonValue,
    context: TokenContext,
    events: number,
    isPatient?: boolean,
  ): Promise<void> | undefined;
  /** Releases the reservations of these tokens. */
  settle?(tokens: Iterable<JsonValue>): void;
};

/** Tokens whose expiry is remembered. */
const MAX_REMEMBERED = 10_000;

/**
 * The expiry of the tokens that this gateway issued. It generates their ids, so an id belongs to one token.
 *
 * The id of a token from another issuer proves nothing: a longer-lived token may have the same id.
 */
export class IssuedTokens {
  readonly #ends = new Map<string, number>();

  /** Remembers a token; the oldest one is dropped when the limit is reached. */
  add(id: string, expiresAt: number): void {
    this.#ends.set(id, expiresAt);
    if (this.#ends.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }

  /** The latest expiry of a token in seconds, if known. A narrowed token never lives longer than its parent. */
  endOf(id: string): number | undefined {
    const [root = id] = id.split("/");
    return this.#ends.get(root);
  }
}
