import type { ControlRunStatus } from "@countersign/core";
import { Stop } from "../outbound/deliver/run-error.js";
import type { Failure } from "../outbound/deliver/run-error.js";
import { createRunCounters } from "../event/run.js";
import type { RunHandle } from "../sessions/sessions.js";

/** The facts of a run at its start. */
type RunFacts = Pick<
  RunHandle,
  "runId" | "threadId" | "agent" | "principal" | "client" | "transport" | "startedAt"
>;

/**
 * The handle of a run. Once the run has ended, a stop does nothing, and the handle holds no reference to the stream.
 */
export class OpenRunHandle implements RunHandle {
  readonly runId: string;
  readonly threadId: string;
  readonly agent: string;
  readonly principal: string;
  readonly client: RunHandle["client"];
  readonly transport: RunHandle["transport"];
  readonly startedAt: number;
  readonly counters = createRunCounters();
  status: ControlRunStatus = "running";
  endedAt?: number;
  failure?: string;
  #stop: { abort(reason: Stop): void } | undefined;

  constructor(facts: RunFacts, stop: { abort(reason: Stop): void }) {
    this.runId = facts.runId;
    this.threadId = facts.threadId;
    this.agent = facts.agent;
    this.principal = facts.principal;
    this.client = facts.client;
    this.transport = facts.transport;
    this.startedAt = facts.startedAt;
    this.#stop = stop;
  }

  stop(reason: string, failure?: Failure): void {
    if (this.#stop === undefined) return;
    if (this.status === "running") this.status = "stopped";
    this.#stop.abort(new Stop(reason, failure));
  }

  /** The session shows finished runs for long, so the handle must not keep the stream in memory. */
  end(status: ControlRunStatus, endedAt: number): void {
    if (this.status === "running") this.status = status;
    this.endedAt = endedAt;
    this.#stop = undefined;
  }
}
