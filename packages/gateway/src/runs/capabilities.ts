import type { JsonValue } from "@countersign/core";
import type { CapabilityFacts } from "@countersign/policy";
import type { Capabilities, TokenSubject } from "../capabilities/capabilities.js";
import type { Session } from "../sessions/session.js";
import type { TokenVerifier } from "./surroundings.js";

/** The tokens of one run: those of its session, and what the agent's own answer brought. */
export class RunCapabilities implements Capabilities {
  readonly #session: Session;
  readonly #agent: string;
  readonly #tokens: TokenVerifier;
  #own: string | undefined;

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

  spend(id: string): void {
    this.#tokens.spend(id);
  }

  /** Adds the token that came with the agent's answer. */
  add(token: string): void {
    this.#own = token;
  }
}
