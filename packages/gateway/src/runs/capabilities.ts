import type { JsonValue } from "@countersign/core";
import type { CapabilityFacts } from "@countersign/policy";
import type { Capabilities, TokenSubject } from "../access/capabilities.js";
import { ANONYMOUS } from "../access/principal.js";
import type { Principal } from "../access/principal.js";
import type { Session } from "../sessions/session.js";
import type { TokenContext, TokenVerifier } from "../access/capabilities.js";

/** Tokens remembered that have something to be given back; an agent may bring one with each event. */
const MAX_RESERVED = 256;

/** The tokens of one run: those of its session, and what the agent's own answer brought. */
export class RunCapabilities implements Capabilities {
  readonly #session: Session;
  /** Where a token is presented, the same for every event of the run. */
  readonly #context: TokenContext;
  readonly #tokens: TokenVerifier;
  #own: string | undefined;
  /** Tokens of which events were asked for. */
  #reserved: Set<JsonValue> | undefined;

  constructor(
    session: Session,
    { agent, principal: { id } }: { readonly agent: string; readonly principal: Principal },
    tokens: TokenVerifier,
  ) {
    this.#session = session;
    const sessionId = session.id;
    // Anonymous is what everybody shares: it is never the principal that a token names.
    this.#context =
      id === ANONYMOUS.id ? { agent, sessionId } : { agent, sessionId, principal: id };
    this.#tokens = tokens;
  }

  session(subject?: TokenSubject): CapabilityFacts[] {
    // Judged anew each time: a token may have expired or been revoked since the last event.
    return this.#all()
      .toReversed()
      .map((token) => this.presented(token, subject));
  }

  presented(token: JsonValue, subject?: TokenSubject): CapabilityFacts {
    const context = this.#context;
    return this.#tokens.evaluate(
      token,
      subject === undefined ? context : { ...context, event: subject },
    );
  }

  spend(facts: CapabilityFacts): void {
    this.#tokens.spend(facts);
  }

  /**
   * Sees to it that so many events of the tokens that may count for an event are at hand: of the one it brings, or
   * else of the session's.
   */
  reserve(
    presented: JsonValue | undefined,
    events: number,
    isPatient?: boolean,
  ): Promise<void> | undefined {
    if (presented !== undefined) return this.#reserve(presented, events, isPatient);
    if (this.#own === undefined && this.#session.tokens.length === 0) return undefined;
    let waits: Promise<void>[] | undefined;
    for (const token of this.#all()) {
      const until = this.#reserve(token, events, isPatient);
      if (until !== undefined) (waits ??= []).push(until);
    }
    return waits === undefined ? undefined : Promise.all(waits).then(() => undefined);
  }

  /** The run is over: what is reserved for it may be used elsewhere. */
  settle(): void {
    if (this.#reserved !== undefined) this.#tokens.settle?.(this.#reserved);
    this.#reserved = undefined;
  }

  #reserve(token: JsonValue, events: number, isPatient?: boolean): Promise<void> | undefined {
    const until = this.#tokens.reserve?.(token, this.#context, events, isPatient);
    if (until === undefined) return undefined;
    this.#reserved ??= new Set();
    // What is not remembered here goes back when it has not been used for a while.
    if (this.#reserved.size < MAX_RESERVED) this.#reserved.add(token);
    return until;
  }

  /** The agent's own, then those handed to the session for whoever uses it or for this principal. */
  #all(): string[] {
    const { principal: ours } = this.#context;
    const handed = this.#session.tokens.filter(
      ({ principal }) => principal === undefined || principal === ours,
    );
    const tokens = handed.map(({ token }) => token);
    return this.#own === undefined ? tokens : [this.#own, ...tokens];
  }

  /** Adds the token that came with the agent's answer. */
  add(token: string): void {
    this.#own = token;
  }
}
