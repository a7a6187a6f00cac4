import type { CompiledPolicy } from "@countersign/policy";
import type { ReceiptTransport } from "../clients/sink.js";
import { inboundItemOf } from "../control/feed-item.js";
import { createJudge } from "../decide/judge.js";
import type { Judgement, Question } from "../decide/judge.js";
import type { InboundRequest } from "../inbound/request.js";
import type { Session } from "../sessions/session.js";
import type { Upstream } from "../upstream/upstream.js";
import { RunCapabilities } from "./capabilities.js";
import type { Surroundings } from "./surroundings.js";

/** Where a connection comes from and what it is for. */
export type ConnectionFacts = {
  readonly upstream: Upstream;
  readonly sessionId: string;
  readonly connectionId: string;
  readonly transport: ReceiptTransport;
};

/** What is asked about a request on its way, by whoever received it. */
export type InboundHooks = Partial<
  Pick<InboundRequest, "assertNewRun" | "review" | "claim" | "obstacle">
>;

/** One connection of one session: the policy pinned for it, its tokens and its judge. */
export type Connection = {
  readonly session: Session;
  readonly policy: CompiledPolicy;
  readonly capabilities: RunCapabilities;
  readonly judge: (question: Question) => Judgement;
  /** A request of the browser, ready to walk the stages. */
  inbound(
    kind: InboundRequest["kind"],
    bytes: Uint8Array | string,
    hooks?: InboundHooks,
  ): InboundRequest;
};

/** Opens a connection's view of policy, tokens and counters. */
export function openConnection(around: Surroundings, facts: ConnectionFacts): Connection {
  const { upstream, sessionId, connectionId, transport } = facts;
  const { name: agent, dialect: agentDialect } = upstream.target;
  const session = around.sessions.open(sessionId);
  const policy = around.policy();
  const capabilities = new RunCapabilities(session, agent, around.tokens);
  const judge = createJudge({
    policy,
    book: around.book(policy),
    keys: { session: sessionId, agent, connection: `${sessionId}\n${connectionId}` },
    capabilities,
    transport,
    clock: around.clock,
    session: { id: sessionId, agent },
  });
  return {
    session,
    policy,
    capabilities,
    judge,
    inbound: (kind, bytes, { assertNewRun = () => {}, review, claim, obstacle } = {}) => ({
      kind,
      agent,
      agentDialect,
      sessionId,
      transport,
      receivedAt: around.clock.now(),
      policy,
      judge,
      recorder: around.recorder,
      limits: around.limits,
      clock: around.clock,
      mintId: around.mintId,
      bytes,
      assertNewRun,
      review,
      claim,
      obstacle,
      // The start of a run waits for what others may give back; a message of an open one does not.
      reserve: (token) => capabilities.reserve(token, 1, kind === "input"),
      recorded: (request) => around.feed.publish(inboundItemOf(request)),
    }),
  };
}
