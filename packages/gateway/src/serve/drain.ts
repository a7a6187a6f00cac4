import type { Gateway } from "./gateway.js";

/** The duration of each phase of a shutdown. */
export type DrainTimes = { readonly delayMs: number; readonly drainTimeoutMs: number };

/** The result of a shutdown. */
export type DrainResult = { readonly stopped: number };

const TICK_MS = 25;
/** Time for the final events of runs that were stopped. */
const FINAL_EVENT_MS = 2000;

/**
 * Drains a gateway: it first reports not ready, then refuses new runs, then ends open runs with an error event.
 *
 * `hasten` skips all waiting, but every run still gets its final event.
 */
export async function drainGateway(
  gateway: Gateway,
  { delayMs, drainTimeoutMs }: DrainTimes,
  hasten: AbortSignal,
): Promise<DrainResult> {
  const open = () => gateway.context.sessions.openRuns();
  gateway.leave();
  await until(() => false, delayMs, hasten);
  gateway.drain();
  // The end of a run is part of it: a client that just lost its connection gets time to fetch it.
  const isDone = (): boolean => open().length === 0 && !gateway.isAwaited();
  await until(isDone, drainTimeoutMs, hasten);
  const left = open();
  for (const run of left) run.stop("the gateway is stopping");
  const { openRuns } = gateway.context.telemetry;
  await until(() => openRuns.size === 0, FINAL_EVENT_MS);
  return { stopped: left.length };
}

async function until(isDone: () => boolean, withinMs: number, hasten?: AbortSignal): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isDone() && performance.now() < end && hasten?.aborted !== true) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}
