import { SmallMap } from "@countersign/core";
import type { ControlRunStatus } from "@countersign/core";
import type { Clock } from "../base/ports.js";
import type { ClientIdentity } from "../event/client-identity.js";
import { createRunCounters } from "../event/run.js";
import type { RunCounters } from "../event/run.js";
import type { Failure } from "../outbound/deliver/run-error.js";

/** One run, for the control plane and for stop requests. */
export type RunHandle = {
  readonly runId: string;
  readonly threadId: string;
  readonly agent: string;
  /** The principal that started the run; only this one may stop it. */
  readonly principal: string;
  /** The client in lists and log lines. */
  readonly client: ClientIdentity;
  readonly transport: "sse" | "websocket";
  readonly startedAt: number;
  readonly counters: RunCounters;
  status: ControlRunStatus;
  endedAt?: number;
  /** The error code that the client got, when it failed. */
  failure?: string;
  /** Rules that blocked an event of the run, the first eight. The log line names them; receipts have all. */
  blockedBy?: string[];
  /** Rules in observe mode that would have blocked, the first eight. */
  wouldBlockBy?: string[];
  /** Notes of repaired deviations of the agent's framework, the first eight. */
  repaired?: string[];
  /** The ids of the run's span; absent when traces are off. */
  trace?: { readonly trace_id: string; readonly span_id: string };
  /** Cancels the agent's request, and sends the client an error with the reason. */
  stop(reason: string, failure?: Failure): void;
};

/** A token that was handed to a session. */
export type HandedToken = {
  readonly token: string;
  /** The session's owner at that time, who alone may use the token; absent: any user of the session. */
  readonly principal?: string;
};

/** One person's session: its open runs, the last finished ones, and the tokens handed to it. */
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
const MAX_RUNS_SHOWN = 20;

/** Maximum number of sessions. The least recently used one is evicted first, never one with an open run. */
const MAX_SESSIONS = 10_000;
/** Tokens kept per session. */
const MAX_TOKENS = 16;

/** The sessions of a gateway, bounded. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #clock: Clock;
  readonly #limit: number;

  constructor(clock: Clock, limit: number = MAX_SESSIONS) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Returns the session of that id, and creates it when it is new; `at` is the time of its use, now by default. */
  open(id: string, at?: number): Session {
    const known = this.#sessions.get(id);
    // A late report must not make it more recent than it is: sessions used since would be evicted before it.
    if (known !== undefined && at !== undefined && at < known.lastSeen) return known;
    const now = at ?? this.#clock.now();
    const session = known ?? {
      id,
      createdAt: now,
      lastSeen: now,
      runs: new SmallMap<string, RunHandle>(),
      counters: createRunCounters(),
      tokens: [],
    };
    session.lastSeen = Math.max(session.lastSeen, now);
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    if (this.#sessions.size > this.#limit) this.#forgetOne();
    return session;
  }

  /** The session of that id, if it is known. */
  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** The number of sessions. */
  get size(): number {
    return this.#sessions.size;
  }

  /** All sessions, the most recently used first. */
  list(): Session[] {
    return [...this.#sessions.values()].toReversed();
  }

  /** The most recently used sessions, at most `count`, the latest first. */
  recent(count: number): Session[] {
    const recent: Session[] = [];
    let skip = this.#sessions.size - count;
    for (const session of this.#sessions.values()) if (--skip < 0) recent.push(session);
    return recent.toReversed();
  }

  /** Keeps a token for the session's events; `at` is when it was handed over. */
  addToken(id: string, handed: HandedToken, at?: number): void {
    const { tokens } = this.open(id, at);
    const known = tokens.findIndex((one) => isSameToken(one, handed));
    if (known !== -1) tokens.splice(known, 1);
    tokens.push(handed);
    if (tokens.length > MAX_TOKENS) tokens.shift();
  }

  /** Adds a run to its session, where it stays until newer ones evict it. */
  addRun(id: string, run: RunHandle): void {
    const session = this.open(id);
    session.runs.set(run.runId, run);
    for (const [oldId, old] of session.runs) {
      if (session.runs.size <= MAX_RUNS_SHOWN) break;
      if (old.status !== "running") session.runs.delete(oldId);
    }
  }

  /** Removes a run that never began. */
  removeRun(id: string, run: RunHandle): void {
    const { runs } = this.#sessions.get(id) ?? {};
    if (runs?.get(run.runId) === run) runs.delete(run.runId);
  }

  /** Removes an empty session, so that a rejected request leaves nothing behind. */
  forgetEmpty(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined || session.runs.size > 0 || session.tokens.length > 0) return;
    const { forwarded, blocked } = session.counters;
    if (forwarded === 0 && blocked === 0) this.#sessions.delete(id);
  }

  /** Open runs of all sessions. */
  openRuns(): RunHandle[] {
    return [...this.#sessions.values()].flatMap((session) =>
      [...session.runs.values()].filter((run) => run.status === "running"),
    );
  }

  #forgetOne(): void {
    for (const [id, session] of this.#sessions) {
      if ([...session.runs.values()].every((run) => run.status !== "running")) {
        this.#sessions.delete(id);
        return;
      }
    }
  }
}
