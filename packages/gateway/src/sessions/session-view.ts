import type { RunHandle, RunStatus, Session } from "./session.js";

/** A run as the control plane returns it. */
export type RunView = {
  readonly run_id: string;
  /** The gateway of the run. */
  readonly gateway: string;
  readonly thread_id: string;
  readonly agent: string;
  readonly transport: RunHandle["transport"];
  readonly status: RunStatus;
  readonly failure?: string;
  readonly started_at: number;
  readonly ended_at?: number;
  readonly forwarded: number;
  readonly blocked: number;
};

/** A session as the control plane returns it. */
export type SessionView = {
  readonly id: string;
  /** The gateways that know the session. */
  readonly gateways: readonly string[];
  readonly created_at: number;
  readonly last_seen: number;
  readonly forwarded: number;
  readonly blocked: number;
  readonly capabilities: number;
  readonly runs: readonly RunView[];
};

/** The view of a run that is, or was, at this gateway. */
export function runView(run: RunHandle, gateway: string): RunView {
  return {
    run_id: run.runId,
    gateway,
    thread_id: run.threadId,
    agent: run.agent,
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
export function sessionView(session: Session, gateway: string): SessionView {
  return {
    id: session.id,
    gateways: [gateway],
    created_at: session.createdAt,
    last_seen: session.lastSeen,
    forwarded: session.counters.forwarded,
    blocked: session.counters.blocked,
    capabilities: session.tokens.length,
    runs: [...session.runs.values()].map((run) => runView(run, gateway)),
  };
}

/** Joins the views of one session from several gateways. */
export function joinViews([first, ...others]: readonly [
  SessionView,
  ...SessionView[],
]): SessionView {
  return others.reduce<SessionView>(
    (joined, view) => ({
      id: joined.id,
      gateways: [...joined.gateways, ...view.gateways],
      created_at: Math.min(joined.created_at, view.created_at),
      last_seen: Math.max(joined.last_seen, view.last_seen),
      forwarded: joined.forwarded + view.forwarded,
      blocked: joined.blocked + view.blocked,
      capabilities: joined.capabilities + view.capabilities,
      runs: [...joined.runs, ...view.runs],
    }),
    first,
  );
}
