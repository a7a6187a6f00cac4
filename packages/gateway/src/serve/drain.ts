import type { Gateway } from "./gateway.js";

/** How long each part of stopping may take. */
export type DrainTimes = { readonly delayMs: number; readonly drainTimeoutMs: number };

/** What came of the open runs. */
export type DrainResult = { readonly stopped: number };

const TICK_MS = 25;
/** For the last words of runs that were stopped. */
const LAST_WORDS_MS = 2000;

/**
 * Lets a gateway run dry: not ready first, then no new runs, then an honest end for what is still open.
 *
 * `hasten` cuts all waiting short, but no run ends without being told.
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
  // The end of a run is part of it: whoever lost the connection just then is waited for.
  const isDone = (): boolean => open().length === 0 && !gateway.isAwaited();
  await until(isDone, drainTimeoutMs, hasten);
  const left = open();
  for (const run of left) run.stop("the gateway is stopping");
  const { openRuns } = gateway.context.telemetry;
  await until(() => openRuns.size === 0, LAST_WORDS_MS);
  return { stopped: left.length };
}

async function until(isDone: () => boolean, withinMs: number, hasten?: AbortSignal): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isDone() && performance.now() < end && hasten?.aborted !== true) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}
