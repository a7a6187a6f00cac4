import type { ControlRunStatus, SmallMap } from "@countersign/core";
import type { Failure } from "../outbound/deliver/run-error.js";
import type { RunCounters } from "../event/run.js";

/** One run, for the control plane and for stop requests. */
export type RunHandle = {
  readonly runId: string;
  readonly threadId: string;
  readonly agent: string;
  /** The principal that started the run; only this one may stop it. */
  readonly principal: string;
  readonly transport: "sse" | "websocket";
  readonly startedAt: number;
  readonly counters: RunCounters;
  status: ControlRunStatus;
  endedAt?: number;
  /** The error code that the client got, when it failed. */
  failure?: string;
  /**
   * Rules that blocked an event of the run, the first eight. The log line names them; receipts have
   * all.
   */
  blockedBy?: string[];
  /** Rules in observe mode that would have blocked, the first eight. */
  notedBy?: string[];
  /** Notes of repaired deviations of the agent's framework, the first eight. */
  repaired?: string[];
  /** Cancels the agent's request, and sends the client an error with the reason. */
  stop(reason: string, failure?: Failure): void;
};

/** A token that was handed to a session. */
export type HandedToken = {
  readonly token: string;
  /**
   * The session's owner at that time, who alone may use the token; absent: any user of the session.
   */
  readonly principal?: string;
};

/** One person's session: its open runs and the tokens handed to it. */
export type Session = {
  readonly id: string;
  readonly createdAt: number;
  lastSeen: number;
  readonly runs: SmallMap<string, RunHandle>;
  readonly counters: RunCounters;
  /** Tokens presented for the session through the control API, newest last. */
  readonly tokens: HandedToken[];
};

/** True for the same token of the same principal. */
export function isSameToken(one: HandedToken, other: HandedToken): boolean {
  return one.token === other.token && one.principal === other.principal;
}

/** Finished runs kept per session for the control plane. */
export const MAX_RUNS_SHOWN = 20;

/** Drops the oldest finished runs over the bound. */
export function pruneRuns(session: Session): void {
  for (const [id, run] of session.runs) {
    if (session.runs.size <= MAX_RUNS_SHOWN) return;
    if (run.status !== "running") session.runs.delete(id);
  }
}
