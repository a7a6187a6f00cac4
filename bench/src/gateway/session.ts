import { availableParallelism } from "node:os";
import { sleep } from "./clock.js";
import { sizeOf } from "./frames.js";
import { quantilesOf } from "./statistics.js";
import { startPeer } from "./peer.js";
import type { Peer } from "./peer.js";
import { machineTime, processorTime, settle } from "./usage.js";
import type { Running } from "./variant.js";
import type { AgentCalls, ClientCalls, Outcome, Plan, Seen } from "./work.js";

/** The two ends of the bench; they stay while the variant between them changes. */
export type Ends = {
  readonly agent: Peer<AgentCalls>;
  readonly client: Peer<ClientCalls>;
  readonly agentPort: number;
  readonly acknowledgePort: number;
};

/** Starts agent and client. */
export async function startEnds(): Promise<Ends> {
  const agent = startPeer<AgentCalls>("agent");
  const client = startPeer<ClientCalls>("client");
  return { agent, client, ...portsOf(await agent.calls.start()) };
}

function portsOf(given: { port: number; acknowledgePort: number }): {
  agentPort: number;
  acknowledgePort: number;
} {
  return { agentPort: given.port, acknowledgePort: given.acknowledgePort };
}

/** One load. */
export type Load = {
  readonly plan: Plan;
  readonly streams: number;
  readonly isRenewing?: boolean;
  readonly warmSeconds: number;
  readonly seconds: number;
  /** Short runs beside the streams, once those are measured: the time to the first event. */
  readonly probes?: number;
};

/** The measurement of one load. */
export type Measured = Seen & {
  readonly streams: number;
  readonly eventsPerSecond: number;
  /** Microseconds of processor time per event in between (per run, if there are only probes). */
  readonly processorMicroseconds: number;
  /** The share of the machine that other work used meanwhile, 0 to 1. */
  readonly foreignShare: number;
};

/** Opens the streams, warms them up, measures, and waits for the end of all of them. */
export async function measureLoad(ends: Ends, running: Running, load: Load): Promise<Measured> {
  await settle(running.pids());
  await openStreams(ends, running, load);
  const measured = load.streams === 0 ? NOTHING : await watch(ends, running, load);
  const first = await probe(ends, running, load);
  await finishAll(ends);
  return { ...measured, ...first };
}

const NONE = quantilesOf(new Float64Array());
const NOTHING: Measured = {
  streams: 0,
  seconds: 0,
  events: 0,
  delay: NONE,
  gap: NONE,
  first: NONE,
  eventsPerSecond: Number.NaN,
  processorMicroseconds: Number.NaN,
  foreignShare: 0,
};

/** Short runs beside the streams; without streams also the processor time of such a run. */
async function probe(
  { client }: Ends,
  { target, pids }: Running,
  { probes, streams }: Load,
): Promise<Partial<Measured>> {
  if (probes === undefined) return {};
  const before = processorTime(pids());
  const first = await client.calls.probe(target, probes);
  if (streams > 0 || pids().length === 0) return { first };
  // One more run opened the connection.
  const used = processorTime(pids()) - before;
  return { first, processorMicroseconds: used / 1e3 / (first.count + 1) };
}

/** Opens streams that are silent until all are open, then gives the agent its plan. */
export async function openStreams(
  { agent, client, acknowledgePort }: Ends,
  running: Running,
  load: Pick<Load, "plan" | "streams" | "isRenewing">,
): Promise<void> {
  await agent.calls.plan({ kind: "idle" });
  await client.calls.open({
    target: running.target,
    streams: load.streams,
    isRenewing: load.isRenewing === true,
    ...(load.plan.kind === "window" ? { acknowledgePort } : {}),
  });
  await agent.calls.plan(load.plan);
}

/** Measures streams that are already open. */
export async function watch(
  { agent, client }: Ends,
  running: Running,
  load: Omit<Load, "isRenewing">,
): Promise<Measured> {
  await sleep(load.warmSeconds);
  const pids = running.pids();
  await client.calls.measure();
  const own = [...pids, agent.pid, client.pid];
  const [before, ownBefore, allBefore] = [processorTime(pids), processorTime(own), machineTime()];
  await sleep(load.seconds);
  const [used, usedByAll] = [processorTime(pids) - before, machineTime() - allBefore];
  const foreign = usedByAll - (processorTime(own) - ownBefore);
  const seen = await client.calls.collect();
  if (seen.events === 0) throw new Error("no event arrived");
  const { events: all, stamped } = sizeOf(load.plan.kind === "window" ? load.plan.of : "text");
  // The client counts the events with a stamp.
  const events = (seen.events * all) / stamped;
  return {
    ...seen,
    streams: load.streams,
    eventsPerSecond: events / seen.seconds,
    processorMicroseconds: pids.length === 0 ? Number.NaN : used / 1e3 / events,
    foreignShare: Math.max(0, foreign / (seen.seconds * 1e9 * availableParallelism())),
  };
}

/** Ends every open stream and asserts that each ended properly. */
export async function finishAll({ agent, client }: Ends): Promise<Outcome> {
  await client.calls.stopRenewing();
  await agent.calls.finish();
  const outcome = await client.calls.drain();
  assertWhole(outcome);
  return outcome;
}

/** Throws unless every requested run ended properly. */
export function assertWhole(outcome: Outcome): void {
  if (outcome.complete === outcome.asked && outcome.failures.length === 0) return;
  throw new Error(
    `${outcome.complete} of ${outcome.asked} runs are complete: ${outcome.failures.join(" | ")}`,
  );
}
