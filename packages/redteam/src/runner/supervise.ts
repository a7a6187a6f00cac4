import { CountersignError } from "@countersign/core";
import type { ActorReport, RunningActor } from "./phase-engine.js";
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

/**
 * Waits until all clients are done, and ends those that are late, or all actors on the operator's word. Servers serve
 * until no client can send anything more.
 */
export async function superviseActors(
  clients: readonly RunningActor[],
  servers: readonly RunningActor[],
  { deadline, grace, signal, failed }: Supervision,
): Promise<ActorReport[]> {
  const stopAll = (): void => {
    for (const actor of [...clients, ...servers]) actor.stop();
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
  const reports = await Promise.all(clients.map(({ done }) => done));
  clearTimeout(late);
  await pause(grace, signal);
  for (const server of servers) server.finish();
  reports.push(...(await Promise.all(servers.map(({ done }) => done))));
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
