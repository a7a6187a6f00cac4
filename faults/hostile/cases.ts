import type { GatewayProcess } from "../harness/gateway.js";

const SLOTS = 32;

/** How a round of cases went. */
export type Round = {
  /** Bytes that are in use once everything that may be collected is, before and after. */
  readonly before: number;
  readonly after: number;
  readonly perSecond: number;
};

/**
 * Runs cases side by side, some at a time, and weighs the gateway before and after.
 *
 * The first half only warms it up: caches with a bound fill (threads, sessions), code is compiled. Measured over
 * 12,000 streams, what is in use stays level from the first 1,500 on.
 */
export async function runCases(
  gateway: GatewayProcess,
  count: number,
  one: (index: number, slot: number) => Promise<void>,
): Promise<Round> {
  const warm = Math.floor(count / 2);
  let next = 0;
  const until = async (end: number): Promise<void> => {
    const work = async (slot: number): Promise<void> => {
      while (next < end && !gateway.hasExited()) {
        const index = next;
        next += 1;
        await one(index, slot);
      }
    };
    await Promise.all(Array.from({ length: SLOTS }, (_, slot) => work(slot)));
  };
  const started = Date.now();
  await until(warm);
  const before = await inUse(gateway);
  await until(count);
  const perSecond = (count * 1000) / (Date.now() - started);
  if (gateway.hasExited()) throw new Error(`the gateway has ended: ${gateway.output()}`);
  return { before, after: await inUse(gateway), perSecond };
}

async function inUse(gateway: GatewayProcess): Promise<number> {
  const { heapUsed, external } = await gateway.inspector.memory();
  return heapUsed + external;
}

/** Whether memory afterwards is within a tenth of what it was before; less is welcome. */
export function isWithinTenPercent(before: number, after: number): boolean {
  return after <= before * 1.1;
}

/**
 * The thread of a case: a new one now and then, as conversations end, and never one that is in use.
 *
 * Its name is always as long, so that where a mutation falls does not depend on who runs the case.
 */
export function threadOf(index: number, slot: number): string {
  return `thread-${10 + slot}-${100 + Math.floor(index / (SLOTS * 50))}`;
}
