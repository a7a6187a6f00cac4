import type { RunHandle } from "./session.js";
import type { Sessions } from "./sessions.js";

/** Which runs are to end, at whichever gateway they are. */
export type StopOrder = {
  readonly session?: string;
  readonly thread?: string;
  readonly run?: string;
  /** Only runs of this person; left out when an operator asks. */
  readonly principal?: string;
};

/** A run that was ended. */
export type StoppedRun = {
  readonly session: string;
  readonly run: string;
  /** Unknown of a run that an older gateway ended. */
  readonly thread?: string;
  readonly agent?: string;
};

/**
 * Ends the open runs that an order names, and says which they were.
 *
 * Without a session, a person must know both the thread and the run; nobody else's run is touched or named.
 */
export function stopRuns(
  sessions: Sessions,
  { session, thread, run, principal }: StopOrder,
  reason: string,
): StoppedRun[] {
  if (session === undefined && (thread === undefined || run === undefined)) return [];
  const stopped: StoppedRun[] = [];
  for (const { id, handle } of candidatesOf(sessions, session)) {
    if (handle.status !== "running") continue;
    if (principal !== undefined && handle.principal !== principal) continue;
    if (thread !== undefined && handle.threadId !== thread) continue;
    if (run !== undefined && handle.runId !== run) continue;
    handle.stop(reason);
    const { runId, threadId, agent } = handle;
    stopped.push({ session: id, run: runId, thread: threadId, agent });
  }
  return stopped;
}

function candidatesOf(
  sessions: Sessions,
  session: string | undefined,
): { readonly id: string; readonly handle: RunHandle }[] {
  const all = session === undefined ? sessions.list() : [sessions.find(session)];
  return all.flatMap((one) =>
    one === undefined ? [] : [...one.runs.values()].map((handle) => ({ id: one.id, handle })),
  );
}
