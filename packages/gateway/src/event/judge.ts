import type { JsonObject, JsonValue } from "@countersign/core";
import { createContentReader } from "@countersign/policy";
import type {
  CapabilityFacts,
  CompiledPolicy,
  ContentFinding,
  CounterBook,
  CounterKeys,
  Decision,
  DecisionFacts,
  EventFacts,
  ViolationFacts,
} from "@countersign/policy";
import type { Capabilities, TokenSubject } from "../access/capabilities.js";
import type { ReceiptTransport } from "./sink.js";
import type { Clock } from "../base/ports.js";

/** A decision and the token it rests on. */
export type DecisionResult = { readonly decision: Decision; readonly capability?: CapabilityFacts };

/** What the decision is asked about. */
export type DecisionRequest = {
  readonly facts: EventFacts;
  /** A part of a unit that was counted when it opened. */
  readonly isContinuation?: boolean;
  /** A part of an event that was counted itself: no new one for the rate per second. */
  readonly isPart?: boolean;
  /** Another event of a unit that is judged by one of them: it costs nothing, neither a count nor a token. */
  readonly isUncounted?: boolean;
  readonly violations?: readonly ViolationFacts[] | undefined;
  /** Calls denied on the thread within the quarantine's window. */
  readonly deniedCalls?: number;
  /** The arguments of a call in a message list, as they stand there. */
  readonly listedArguments?: string;
  /** A token that came with this very event. */
  readonly presented?: JsonValue | undefined;
  /** What was found in the message so far; left out, the event is read by itself. */
  readonly content?: ContentFinding | null | undefined;
  /** Hosts of a request's content parts that were resolved and lead outside. */
  readonly publicHosts?: ReadonlySet<string> | undefined;
  /** The event itself, for conditions. */
  readonly event?: JsonObject;
  /** What a token's constraints may look into. */
  readonly subject?: TokenSubject;
};

/** Where a judge stands: one connection of one session. */
export type JudgeContext = {
  readonly policy: CompiledPolicy;
  readonly book: CounterBook;
  readonly keys: CounterKeys;
  readonly capabilities: Capabilities;
  readonly transport: ReceiptTransport;
  readonly clock: Clock;
  readonly session: JsonObject;
};

/** Asks the policy, with and without the tokens at hand, and keeps the counters. */
export function createJudge(bench: JudgeContext): (question: DecisionRequest) => DecisionResult {
  const judge = new Judge(bench);
  return (question) => judge.judge(question);
}

/** Counts of no window; policies have few of them, and every run needs as many noughts as its policy has. */
const UNCOUNTED: Float64Array[] = [];

/** A continuation is no new event for a cap over a window: its unit was counted when it opened. */
function uncounted(windows: number): Float64Array {
  return (UNCOUNTED[windows] ??= new Float64Array(windows));
}

class Judge {
  readonly #bench: JudgeContext;

  constructor(bench: JudgeContext) {
    this.#bench = bench;
  }

  judge(question: DecisionRequest): DecisionResult {
    const { policy, book, keys, capabilities, clock } = this.#bench;
    const now = clock.now();
    const isUncounted = question.isUncounted === true;
    const counted = book.peek(question.facts, keys, now, question.isPart !== true && !isUncounted);
    const continues = question.isContinuation === true || isUncounted;
    const judgement = this.#decide(
      question,
      continues
        ? {
            eventsInSecond: counted.eventsInSecond,
            velocity: uncounted(policy.limits.velocity.length),
          }
        : counted,
    );
    if (judgement.decision.allow && !isUncounted) {
      if (!continues) book.commit(question.facts, keys, now);
      if (judgement.capability !== undefined) capabilities.spend(judgement.capability);
    }
    return judgement;
  }

  #decide(question: DecisionRequest, counters: DecisionFacts["counters"]): DecisionResult {
    const { capabilities } = this.#bench;
    if (question.presented !== undefined) {
      const token = capabilities.presented(question.presented, question.subject);
      return { decision: this.#ask(question, counters, token), capability: token };
    }
    const bare = this.#ask(question, counters);
    if (bare.allow && bare.observed === undefined) return { decision: bare };
    let first: DecisionResult | undefined;
    let read: DecisionRequest | undefined;
    for (const token of capabilities.session(question.subject)) {
      read ??= this.#withContent(question);
      const decision = this.#ask(read, counters, token);
      if (decision.allow && decision.observed === undefined) return { decision, capability: token };
      first ??= { decision, capability: token };
    }
    return first ?? { decision: bare };
  }

  /** However many tokens a session has, a text is not read anew for each. */
  #withContent(question: DecisionRequest): DecisionRequest {
    const settings = this.#bench.policy.content;
    const { content, event, facts } = question;
    if (content !== undefined || event === undefined || settings === undefined) return question;
    if (facts.direction === "inbound") return question;
    return { ...question, content: createContentReader(settings).read(event) };
  }

  #ask(
    question: DecisionRequest,
    counters: DecisionFacts["counters"],
    token?: CapabilityFacts,
  ): Decision {
    const { policy, transport, session } = this.#bench;
    return policy.evaluate({
      event: question.facts,
      transport,
      counters,
      capability: token,
      violations: question.violations,
      deniedCalls: question.deniedCalls,
      content: question.content,
      publicHosts: question.publicHosts,
      variables: question.event === undefined ? { session } : { event: question.event, session },
    });
  }
}
