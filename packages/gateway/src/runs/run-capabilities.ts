import type { JsonValue } from "@countersign/core";
import type { CapabilityFacts } from "@countersign/policy";
import type {
  Capabilities,
  TokenSubject,
  TokenContext,
  TokenVerifier,
} from "../access/capabilities.js";
import { ANONYMOUS } from "../access/access.js";
import type { Principal } from "../access/access.js";
import type { Session } from "../sessions/sessions.js";

/** Tokens with reservations to return; an agent may send a token with each event. */
const MAX_RESERVED = 256;

/** The tokens of one run: those of its session, and those that the agent's response brought. */
export class RunCapabilities implements Capabilities {
  readonly #session: Session;
  /** The context in which tokens are presented, the same for every event of the run. */
  readonly #context: TokenContext;
  readonly #tokens: TokenVerifier;
  #own: string | undefined;
  /** Tokens with reserved events. */
  #reserved: Set<JsonValue> | undefined;

  constructor(
    session: Session,
    { agent, principal: { id } }: { readonly agent: string; readonly principal: Principal },
    tokens: TokenVerifier,
  ) {
    this.#session = session;
    const sessionId = session.id;
    // All clients share the anonymous principal, so a token never names it.
    this.#context =
      id === ANONYMOUS.id ? { agent, sessionId } : { agent, sessionId, principal: id };
    this.#tokens = tokens;
  }

  session(subject?: TokenSubject): CapabilityFacts[] {
    // Verified again each time: a token may have expired or been revoked since the last event.
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

  /** Reserves that many events of the tokens that an event may use: of its own token, or else of the session's. */
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

  /** Called at the end of the run: its reservations may be used elsewhere. */
  settle(): void {
    if (this.#reserved !== undefined) this.#tokens.settle?.(this.#reserved);
    this.#reserved = undefined;
  }

  #reserve(token: JsonValue, events: number, isPatient?: boolean): Promise<void> | undefined {
    const until = this.#tokens.reserve?.(token, this.#context, events, isPatient);
    if (until === undefined) return undefined;
    this.#reserved ??= new Set();
    // Reservations that are not remembered here are returned after a time without use.
    if (this.#reserved.size < MAX_RESERVED) this.#reserved.add(token);
    return until;
  }

  /** The agent's own tokens, then those handed to the session for any user or for this principal. */
  #all(): string[] {
    const { principal: ours } = this.#context;
    const handed = this.#session.tokens.filter(
      ({ principal }) => principal === undefined || principal === ours,
    );
    const tokens = handed.map(({ token }) => token);
    return this.#own === undefined ? tokens : [this.#own, ...tokens];
  }

  /** Adds the token that came with the agent's response. */
  add(token: string): void {
    this.#own = token;
  }
}
