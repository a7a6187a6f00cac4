import type { ClientIdentity } from "../event/client-identity.js";
import type { RunHandle, Sessions } from "./sessions.js";

/** An order of one gateway to all others: to stop runs, or to keep a token for a session. */
export type FleetOrder =
  | {
      readonly kind: "stop";
      readonly stop: StopOrder;
      /** The operator who gives the order, sealed; absent for a person, and from older gateways. */
      readonly by?: string;
    }
  /** Session and token, sealed, because a reader of the table could use the token. */
  | { readonly kind: "hand"; readonly sealed: string };

/** The answer of one gateway to an order. */
export type OrderAnswer = {
  readonly gateway: string;
  readonly stopped: readonly StoppedRun[];
  /** The gateway signs for the runs it stopped; absent from older gateways and when signing failed. */
  readonly signs?: true;
};

/** Signs for runs that an operator stopped; resolves with true when the log has the receipts. */
export type SignStopped = (operator: string, stopped: readonly StoppedRun[]) => Promise<boolean>;

/** The runs to stop, at any gateway. */
export type StopOrder = {
  readonly session?: string;
  readonly thread?: string;
  readonly run?: string;
  /** Stops only runs of this person; absent when an operator asks. */
  readonly principal?: string;
};

/** A run that was stopped. */
export type StoppedRun = {
  readonly session: string;
  readonly run: string;
  /** Absent when an older gateway stopped the run. */
  readonly thread?: string;
  readonly agent?: string;
  /** Absent when an older gateway stopped the run. */
  readonly client?: ClientIdentity;
};

/**
 * Stops the open runs that an order selects, and returns them.
 *
 * Without a session, a person must name both the thread and the run. Runs of other people are
 * neither stopped nor returned.
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
    const { runId, threadId, agent, client } = handle;
    stopped.push({ session: id, run: runId, thread: threadId, agent, client });
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
