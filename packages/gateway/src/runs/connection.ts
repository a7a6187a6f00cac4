import type { CompiledPolicy, EventFacts } from "@countersign/policy";
import type { Principal } from "../access/access.js";
import type { ClientIdentity } from "../event/client-identity.js";
import type { SharedCaps } from "../event/run.js";
import type { ReceiptTransport } from "../event/sink.js";
import { inboundItemOf } from "../telemetry/feed-item.js";
import { createJudge } from "../event/judge.js";
import type { DecisionResult, DecisionRequest } from "../event/judge.js";
import type { InboundRequest } from "../inbound/request.js";
import type { Session } from "../sessions/sessions.js";
import type { Upstream } from "../agent/upstream.js";
import { RunCapabilities } from "./run-capabilities.js";
import type { GatewayContext } from "./gateway-context.js";

/** The origin and the purpose of a connection. */
export type ConnectionFacts = {
  readonly upstream: Upstream;
  readonly sessionId: string;
  /** The principal it acts for: a capability that names a principal is valid for that one only. */
  readonly principal: Principal;
  /** The address of the client, as the gateway believes it. */
  readonly clientAddress?: string | undefined;
  readonly connectionId: string;
  readonly transport: ReceiptTransport;
};

/** The run that an input opens, or the reason why a message cannot reach its agent. */
export type RequestPorts = Pick<InboundRequest, "opening" | "blocker">;

/** One connection of one session: its pinned policy, its tokens and its judge. */
export type Connection = {
  readonly session: Session;
  readonly policy: CompiledPolicy;
  /** The client in receipts, lists and log lines. */
  readonly client: ClientIdentity;
  readonly capabilities: RunCapabilities;
  readonly judge: (request: DecisionRequest) => DecisionResult;
  /** Limits that all gateways count together, where the policy has such. */
  readonly caps: SharedCaps | undefined;
  /** A client request, ready for `admitRequest`. */
  inbound(
    kind: InboundRequest["kind"],
    bytes: Uint8Array | string,
    ports?: RequestPorts,
  ): InboundRequest;
};

/** Opens a connection with its policy, tokens and counters. */
export function openConnection(context: GatewayContext, facts: ConnectionFacts): Connection {
  const { upstream, sessionId, principal, connectionId, transport } = facts;
  const { name: agent, dialect: agentDialect } = upstream.target;
  const session = context.sessions.open(sessionId);
  const policy = context.policy();
  const client = context.identities.of(principal, facts.clientAddress);
  const capabilities = new RunCapabilities(session, { agent, principal }, context.tokens);
  const book = context.book(policy);
  const keys = { session: sessionId, agent, connection: `${sessionId}\n${connectionId}` };
  const caps = !book.isShared
    ? undefined
    : {
        reserve: (facts: EventFacts | undefined, events: number) =>
          book.reserve(facts, keys, events),
        release: () => book.release(keys),
        end: () => book.release({ session: sessionId }),
      };
  const judge = createJudge({
    policy,
    book,
    keys,
    capabilities,
    transport,
    clock: context.clock,
    session: { id: sessionId, agent },
  });
  return {
    session,
    policy,
    client,
    capabilities,
    judge,
    caps,
    inbound: (kind, bytes, { opening, blocker } = {}) => ({
      kind,
      agent,
      agentDialect,
      sessionId,
      client,
      transport,
      receivedAt: context.clock.now(),
      policy,
      judge,
      recorder: context.recorder,
      limits: context.limits,
      clock: context.clock,
      mintId: context.mintId,
      lookupHost: context.lookupHost,
      isSuggestion: upstream.isSuggestion,
      bytes,
      opening,
      blocker,
      // The start of a run waits for events that other gateways may return; a message of an open run does not.
      reserve: (token, isFirst) => capabilities.reserve(token, 1, isFirst && kind === "input"),
      caps,
      recorded: (request) => context.feed.publish(inboundItemOf(request)),
    }),
  };
}
