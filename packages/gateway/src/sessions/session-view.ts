import type { ControlRun, ControlSession } from "@countersign/core";
import type { ClientIdentity } from "../event/client-identity.js";
import type { RunHandle, Session } from "./sessions.js";

/** The view of a run that is, or was, at this gateway. */
export function runView(run: RunHandle, gateway: string): ControlRun {
  return {
    run_id: run.runId,
    gateway,
    thread_id: run.threadId,
    agent: run.agent,
    ...run.client,
    transport: run.transport,
    status: run.status,
    ...(run.failure === undefined ? {} : { failure: run.failure }),
    started_at: run.startedAt,
    ...(run.endedAt === undefined ? {} : { ended_at: run.endedAt }),
    forwarded: run.counters.forwarded,
    blocked: run.counters.blocked,
  };
}

/** The view of a session at this gateway. */
export function sessionView(session: Session, gateway: string): ControlSession {
  return {
    id: session.id,
    gateways: [gateway],
    created_at: session.createdAt,
    last_seen: session.lastSeen,
    forwarded: session.counters.forwarded,
    blocked: session.counters.blocked,
    capabilities: session.tokens.length,
    ...[...session.runs.values()].at(-1)?.client,
    runs: [...session.runs.values()].map((run) => runView(run, gateway)),
  };
}

/** Joins the views of one session from several gateways. */
export function joinViews([first, ...others]: readonly [
  ControlSession,
  ...ControlSession[],
]): ControlSession {
  return others.reduce<ControlSession>(
    (joined, view) => ({
      id: joined.id,
      gateways: [...joined.gateways, ...view.gateways],
      created_at: Math.min(joined.created_at, view.created_at),
      last_seen: Math.max(joined.last_seen, view.last_seen),
      forwarded: joined.forwarded + view.forwarded,
      blocked: joined.blocked + view.blocked,
      capabilities: joined.capabilities + view.capabilities,
      ...clientOf(joined.last_seen >= view.last_seen ? joined : view),
      runs: [...joined.runs, ...view.runs],
    }),
    first,
  );
}

/** The client of the session's newest run. */
function clientOf({ principal, client_address }: ControlSession): ClientIdentity {
  return {
    ...(principal === undefined ? {} : { principal }),
    ...(client_address === undefined ? {} : { client_address }),
  };
}
