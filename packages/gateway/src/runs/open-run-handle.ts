import { Stop } from "../outbound/deliver/run-error.js";
import type { Failure } from "../outbound/deliver/run-error.js";
import type { RunCounters } from "../event/counters.js";
import type { RunHandle, RunStatus } from "../sessions/session.js";

/** What is known of a run when it is entered. */
type RunFacts = Pick<
  RunHandle,
  "runId" | "threadId" | "agent" | "principal" | "transport" | "startedAt"
>;

/** The handle of a run that is open; once it has ended, a stop does nothing and holds nothing. */
export class OpenRunHandle implements RunHandle {
  readonly runId: string;
  readonly threadId: string;
  readonly agent: string;
  readonly principal: string;
  readonly transport: RunHandle["transport"];
  readonly startedAt: number;
  readonly counters: RunCounters = { forwarded: 0, blocked: 0 };
  status: RunStatus = "running";
  endedAt?: number;
  failure?: string;
  #stop: { abort(reason: Stop): void } | undefined;

  constructor(facts: RunFacts, stop: { abort(reason: Stop): void }) {
    this.runId = facts.runId;
    this.threadId = facts.threadId;
    this.agent = facts.agent;
    this.principal = facts.principal;
    this.transport = facts.transport;
    this.startedAt = facts.startedAt;
    this.#stop = stop;
  }

  stop(reason: string, failure?: Failure): void {
    if (this.#stop === undefined) return;
    if (this.status === "running") this.status = "stopped";
    this.#stop.abort(new Stop(reason, failure));
  }

  /** The session shows finished runs for long: nothing of the stream may live as long. */
  end(status: RunStatus, endedAt: number): void {
    if (this.status === "running") this.status = status;
    this.endedAt = endedAt;
    this.#stop = undefined;
  }
}
