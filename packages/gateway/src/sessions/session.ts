import type { SmallMap } from "@countersign/core";
import type { Failure } from "../outbound/deliver/run-error.js";
import type { RunCounters } from "../event/counters.js";

/** How a run stands. */
export type RunStatus = "running" | "finished" | "failed" | "stopped";

/** One run as the control plane shows it and the stop button reaches it. */
export type RunHandle = {
  readonly runId: string;
  readonly threadId: string;
  readonly agent: string;
  /** Who asked for it, and alone may stop it. */
  readonly principal: string;
  readonly transport: "sse" | "websocket";
  readonly startedAt: number;
  readonly counters: RunCounters;
  status: RunStatus;
  endedAt?: number;
  /** The code the person was told, when it failed. */
  failure?: string;
  /** Rules that blocked something on it, the first eight; the log's word on why, beside the receipts. */
  blockedBy?: string[];
  /** Rules that would have, had they not only observed; the first eight. */
  notedBy?: string[];
  /** Deviations of the agent's framework that were repaired, by their notes; the first eight. */
  repaired?: string[];
  /** Cancels the agent's side; the person is told honestly. */
  stop(reason: string, failure?: Failure): void;
};

/** A token that was handed to a session. */
export type HandedToken = {
  readonly token: string;
  /** The principal that owned the session then, and that alone may use it; absent: whoever uses the session. */
  readonly principal?: string;
};

/** One person's session: the runs it has open and the tokens that arrived for it. */
export type Session = {
  readonly id: string;
  readonly createdAt: number;
  lastSeen: number;
  readonly runs: SmallMap<string, RunHandle>;
  readonly counters: RunCounters;
  /** Tokens presented for the session through the control API, newest last. */
  readonly tokens: HandedToken[];
};

/** Whether two are the same token for the same principal. */
export function isSameToken(one: HandedToken, other: HandedToken): boolean {
  return one.token === other.token && one.principal === other.principal;
}

/** Finished runs kept per session for the control plane to show. */
export const MAX_RUNS_SHOWN = 20;

/** Drops the oldest finished runs over the bound. */
export function pruneRuns(session: Session): void {
  for (const [id, run] of session.runs) {
    if (session.runs.size <= MAX_RUNS_SHOWN) return;
    if (run.status !== "running") session.runs.delete(id);
  }
}
