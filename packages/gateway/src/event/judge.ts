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
  MatchedRequest,
  SurfaceView,
  ViolationFacts,
} from "@countersign/policy";
import type { Capabilities, TokenSubject } from "../access/capabilities.js";
import type { ReceiptTransport } from "./sink.js";
import type { Clock } from "../base/ports.js";

/** A decision, and the token that it relied on. */
export type DecisionResult = { readonly decision: Decision; readonly capability?: CapabilityFacts };

/** One event, or a part of one, for the policy to decide. */
export type DecisionRequest = {
  readonly facts: EventFacts;
  /** A part of a unit that was counted when the unit opened. */
  readonly isContinuation?: boolean;
  /** A part of an event that was counted as a whole: the rate per second excludes it. */
  readonly isPart?: boolean;
  /** A further event of a unit that another event stands for: it uses neither a count nor a token. */
  readonly isUncounted?: boolean;
  /** It is asked beside the event by which a call is judged: a denial denies the call. */
  readonly isOfCall?: boolean;
  readonly violations?: readonly ViolationFacts[] | undefined;
  /** Calls denied on the thread within the quarantine's window. */
  readonly deniedCalls?: number;
  /** The arguments of a call in a message list, unparsed. */
  readonly listedArguments?: string;
  /** The token that came with this event. */
  readonly presented?: JsonValue | undefined;
  /** The content findings in the message so far. If absent, the policy reads the event on its own. */
  readonly content?: ContentFinding | null | undefined;
  /** The interface that the event draws. */
  readonly surface?: SurfaceView | undefined;
  /** Clicks and requests of apps in a request, compared with what its thread was shown. */
  readonly requests?: readonly MatchedRequest[] | undefined;
  /** Hosts of the request's content parts that resolve to public addresses. */
  readonly publicHosts?: ReadonlySet<string> | undefined;
  /** The event, for conditions. */
  readonly event?: JsonObject;
  /** The values that a token's constraints are compared with. */
  readonly subject?: TokenSubject;
};

/** The policy, counters and tokens of one connection of one session. */
export type JudgeContext = {
  readonly policy: CompiledPolicy;
  readonly book: CounterBook;
  readonly keys: CounterKeys;
  readonly capabilities: Capabilities;
  readonly transport: ReceiptTransport;
  readonly clock: Clock;
  readonly session: JsonObject;
};

/** Creates the function that evaluates the policy, without and with the session's tokens, and updates the counters. */
export function createJudge(context: JudgeContext): (request: DecisionRequest) => DecisionResult {
  const judge = new Judge(context);
  return (request) => judge.judge(request);
}

/** Arrays of zeros by the number of windows. Runs share them, because a policy has few windows. */
const UNCOUNTED: Float64Array[] = [];

/** The counts for a continuation: a cap over a window counted its unit when the unit opened. */
function uncounted(windows: number): Float64Array {
  return (UNCOUNTED[windows] ??= new Float64Array(windows));
}

class Judge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  judge(request: DecisionRequest): DecisionResult {
    const { policy, book, keys, capabilities, clock } = this.#context;
    const now = clock.now();
    const isUncounted = request.isUncounted === true;
    const counted = book.peek(request.facts, keys, now, request.isPart !== true && !isUncounted);
    const continues = request.isContinuation === true || isUncounted;
    const result = this.#decide(
      request,
      continues
        ? {
            eventsInSecond: counted.eventsInSecond,
            velocity: uncounted(policy.limits.velocity.length),
          }
        : counted,
    );
    if (result.decision.allow && !isUncounted) {
      if (!continues) book.commit(request.facts, keys, now);
      if (result.capability !== undefined) capabilities.spend(result.capability);
    }
    return result;
  }

  #decide(request: DecisionRequest, counters: DecisionFacts["counters"]): DecisionResult {
    const { capabilities } = this.#context;
    if (request.presented !== undefined) {
      const token = capabilities.presented(request.presented, request.subject);
      return { decision: this.#evaluate(request, counters, token), capability: token };
    }
    const bare = this.#evaluate(request, counters);
    if (bare.allow && bare.observed === undefined) return { decision: bare };
    let first: DecisionResult | undefined;
    let withContent: DecisionRequest | undefined;
    for (const token of capabilities.session(request.subject)) {
      withContent ??= this.#withContent(request);
      const decision = this.#evaluate(withContent, counters, token);
      if (decision.allow && decision.observed === undefined) return { decision, capability: token };
      first ??= { decision, capability: token };
    }
    return first ?? { decision: bare };
  }

  /** Reads the text once, not once for each token of the session. */
  #withContent(request: DecisionRequest): DecisionRequest {
    const settings = this.#context.policy.content;
    const { content, event, facts } = request;
    if (content !== undefined || event === undefined || settings === undefined) return request;
    if (facts.direction === "inbound") return request;
    return { ...request, content: createContentReader(settings).read(event) };
  }

  #evaluate(
    request: DecisionRequest,
    counters: DecisionFacts["counters"],
    token?: CapabilityFacts,
  ): Decision {
    const { policy, transport, session } = this.#context;
    return policy.evaluate({
      event: request.facts,
      transport,
      counters,
      capability: token,
      violations: request.violations,
      deniedCalls: request.deniedCalls,
      content: request.content,
      publicHosts: request.publicHosts,
      surface: request.surface,
      requests: request.requests,
      variables: request.event === undefined ? { session } : { event: request.event, session },
    });
  }
}
