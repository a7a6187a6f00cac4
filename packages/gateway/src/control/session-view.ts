import type { RunHandle, Session } from "../sessions/session.js";

/** A run as the control plane shows it. */
export function runView(run: RunHandle): object {
  return {
    run_id: run.runId,
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

/** A session as the control plane shows it. */
export function sessionView(session: Session): object {
  return {
    id: session.id,
    created_at: session.createdAt,
    last_seen: session.lastSeen,
    forwarded: session.counters.forwarded,
    blocked: session.counters.blocked,
    capabilities: session.tokens.length,
    runs: [...session.runs.values()].map(runView),
  };
}
