import type { CapabilityFacts } from "@countersign/policy";
import type { Capabilities, TokenSubject } from "../capabilities/capabilities.js";
import type { Session } from "../sessions/session.js";
import type { TokenVerifier } from "./surroundings.js";

/** A run's capabilities, and a way to add the token that came with the agent's answer. */
export type RunCapabilities = Capabilities & { add(token: string): void };

/** The tokens of one run: those of its session, and what the agent's own answer brought. */
export function createRunCapabilities(
  session: Session,
  agent: string,
  tokens: TokenVerifier,
): RunCapabilities {
  const context = { agent, sessionId: session.id };
  const own: string[] = [];
  const withSubject = (event: TokenSubject | undefined) =>
    event === undefined ? context : { ...context, event };
  return {
    session: (subject): CapabilityFacts[] =>
      // Judged anew each time: a token may have expired or been revoked since the last event.
      [...own, ...session.tokens]
        .toReversed()
        .map((token) => tokens.evaluate(token, withSubject(subject))),
    presented: (token, subject) => tokens.evaluate(token, withSubject(subject)),
    spend: (id) => tokens.spend(id),
    add: (token) => void own.push(token),
  };
}
