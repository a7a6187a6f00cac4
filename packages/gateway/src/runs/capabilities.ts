import type { JsonValue } from "@countersign/core";
import type { CapabilityFacts } from "@countersign/policy";
import type { Capabilities, TokenSubject } from "../capabilities/capabilities.js";
import type { Session } from "../sessions/session.js";
import type { TokenVerifier } from "./surroundings.js";

/** Tokens remembered that have something to be given back; an agent may bring one with each event. */
const MAX_RESERVED = 256;

/** The tokens of one run: those of its session, and what the agent's own answer brought. */
export class RunCapabilities implements Capabilities {
  readonly #session: Session;
  readonly #agent: string;
  readonly #tokens: TokenVerifier;
  #own: string | undefined;
  /** Tokens of which events were asked for. */
  #reserved: Set<JsonValue> | undefined;

  constructor(session: Session, agent: string, tokens: TokenVerifier) {
    this.#session = session;
    this.#agent = agent;
    this.#tokens = tokens;
  }

  session(subject?: TokenSubject): CapabilityFacts[] {
    const { tokens } = this.#session;
    const all = this.#own === undefined ? tokens : [this.#own, ...tokens];
    // Judged anew each time: a token may have expired or been revoked since the last event.
    return all.toReversed().map((token) => this.presented(token, subject));
  }

  presented(token: JsonValue, subject?: TokenSubject): CapabilityFacts {
    const context = { agent: this.#agent, sessionId: this.#session.id };
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
    const { tokens } = this.#session;
    if (presented !== undefined) return this.#reserve(presented, events, isPatient);
    if (this.#own === undefined && tokens.length === 0) return undefined;
    let waits: Promise<void>[] | undefined;
    for (const token of this.#own === undefined ? tokens : [this.#own, ...tokens]) {
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
    const context = { agent: this.#agent, sessionId: this.#session.id };
    const until = this.#tokens.reserve?.(token, context, events, isPatient);
    if (until === undefined) return undefined;
    this.#reserved ??= new Set();
    // What is not remembered here goes back when it has not been used for a while.
    if (this.#reserved.size < MAX_RESERVED) this.#reserved.add(token);
    return until;
  }

  /** Adds the token that came with the agent's answer. */
  add(token: string): void {
    this.#own = token;
  }
}
