import { CountersignError } from "@countersign/core";
import type { ActorReport, RunningActor } from "./actor.js";
import { DEFAULT_TIMEOUTS } from "./options.js";
import { timeoutError } from "./stopwatch.js";

/** The common settings of actors. */
export type Supervision = {
  /** Milliseconds that all of them together may take. */
  readonly deadline: number;
  /** Milliseconds that are listened on after the last has ended. */
  readonly grace: number;
  readonly signal: AbortSignal | undefined;
  failed(error: CountersignError): void;
};

/** Waits until all actors are done, and ends those that are late, or all of them on the operator's word. */
export async function superviseActors(
  actors: readonly RunningActor[],
  { deadline, grace, signal, failed }: Supervision,
): Promise<ActorReport[]> {
  const stopAll = (): void => {
    for (const actor of actors) actor.stop();
  };
  const late = setTimeout(() => {
    failed(timeoutError("document", deadline));
    stopAll();
  }, deadline);
  const onAbort = (): void => {
    failed(new CountersignError("ERR_REDTEAM_STOPPED", "the run was stopped", {}));
    stopAll();
  };
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const reports = await Promise.all(actors.map(({ done }) => done));
  clearTimeout(late);
  await pause(grace, signal);
  signal?.removeEventListener("abort", onAbort);
  stopAll();
  return reports;
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (milliseconds <= 0 || signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, Math.min(milliseconds, DEFAULT_TIMEOUTS.document));
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
