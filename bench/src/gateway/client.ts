/**
 * The load client, in its own process: opens streams over plain sockets, counts arriving events and
 * subtracts the agent's time stamps from its own clock. It parses no JSON.
 */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { microseconds, sleep } from "./clock.js";
import { serveCalls } from "./peer.js";
import { Samples } from "./statistics.js";
import type { Quantiles } from "./statistics.js";
import { createSlot } from "./stream-slot.js";
import type { Slot, SlotWatcher } from "./stream-slot.js";
import { PROBE_THREAD } from "./work.js";
import type { ClientCalls, Outcome, Target } from "./work.js";

const samples = { delay: new Samples(), gap: new Samples(), first: new Samples() };
let isMeasuring = false;
let measuredFrom = 0;
let measuredEvents = 0;

let slots: Slot[] = [];
let isRenewing = false;
let opening = 0;
let running = 0;
let outcome = noOutcome();
let onAllOpen = (): void => {};
let onAllDone = (): void => {};

let acknowledge: Socket | undefined;
let unacknowledged = 0;

function noOutcome(): { asked: number; complete: number; contents: number; failures: string[] } {
  return { asked: 0, complete: 0, contents: 0, failures: [] };
}

/** Once per turn of the loop, however many events arrived. */
function flushAcknowledgements(): void {
  const count = Buffer.allocUnsafe(4);
  count.writeUInt32LE(unacknowledged);
  unacknowledged = 0;
  acknowledge?.write(count);
}

function noteEvent(delay: number, since: number): void {
  outcome.contents += 1;
  if (acknowledge !== undefined && unacknowledged++ === 0) setImmediate(flushAcknowledgements);
  if (!isMeasuring) return;
  measuredEvents += 1;
  samples.delay.add(delay / 1e3);
  if (since > 0) samples.gap.add(since / 1e3);
}

function noteOpen(): void {
  opening -= 1;
  if (opening === 0) onAllOpen();
}

function noteDone(): void {
  running -= 1;
  if (running === 0) onAllDone();
}

function addSlot(target: Target): Slot {
  let isFirstRun = true;
  const settleFirst = (): void => {
    if (isFirstRun) noteOpen();
    isFirstRun = false;
  };
  const watcher: SlotWatcher = {
    onFirst: (waited) => {
      settleFirst();
      if (isMeasuring) samples.first.add(waited / 1e3);
    },
    onEvent: noteEvent,
    onComplete: () => {
      outcome.complete += 1;
      if (isRenewing) ask();
      else noteDone();
    },
    onFailure: (why) => {
      outcome.failures.push(why);
      settleFirst();
      noteDone();
    },
  };
  const slot = createSlot(target, watcher);
  const ask = (): void => {
    outcome.asked += 1;
    slot.ask();
  };
  opening += 1;
  running += 1;
  ask();
  return slot;
}

function clear(): void {
  for (const slot of slots) slot.hangUp();
  acknowledge?.destroy();
  acknowledge = undefined;
  [slots, outcome, opening, running, unacknowledged] = [[], noOutcome(), 0, 0, 0];
}

function startMeasuring(): void {
  for (const each of Object.values(samples)) each.clear();
  measuredEvents = 0;
  measuredFrom = microseconds();
  isMeasuring = true;
}

/** Between two probes: the end of a run, with its writes, is no part of the next start. */
const PROBE_PAUSE_SECONDS = 0.03;
/** Beside an overloaded gateway a few slow probes are enough. */
const PROBE_SECONDS = 8;

async function probe(target: Target, runs: number): Promise<Quantiles> {
  const waits = new Samples();
  let settle = (_failure?: string): void => {};
  const watcher: SlotWatcher = {
    onFirst: (waited) => waits.add(waited / 1e3),
    onEvent: () => {},
    onComplete: () => settle(),
    onFailure: (why) => settle(why),
  };
  const slot = createSlot(target, watcher, PROBE_THREAD);
  const until = microseconds() + PROBE_SECONDS * 1e6;
  for (let run = 0; run <= runs && (run < 10 || microseconds() < until); run++) {
    const failure = await new Promise<string | undefined>((resolve) => {
      settle = resolve;
      slot.ask();
    });
    if (failure !== undefined) throw new Error(`a probe failed: ${failure}`);
    // The first one also waited for the connection.
    if (run === 0) waits.clear();
    await sleep(PROBE_PAUSE_SECONDS);
  }
  slot.hangUp();
  return waits.quantiles();
}

async function drain(): Promise<Outcome> {
  if (running > 0) {
    await new Promise<void>((resolve) => {
      onAllDone = resolve;
    });
  }
  const result = { ...outcome, failures: outcome.failures.slice(0, 5) };
  clear();
  return result;
}

const calls: ClientCalls = {
  open: async ({ target, streams, acknowledgePort, ...rest }) => {
    clear();
    isRenewing = rest.isRenewing;
    if (acknowledgePort !== undefined) acknowledge = connect(acknowledgePort, "127.0.0.1");
    acknowledge?.setNoDelay(true);
    const allOpen = new Promise<void>((resolve) => {
      onAllOpen = resolve;
    });
    const ports = [target.port, ...(target.further ?? [])];
    // A few at a time: a thousand requests at once measure the accept queue.
    for (let index = 0; index < streams; index++) {
      if (index % 20 === 19) await new Promise((resolve) => setTimeout(resolve, 4));
      const port = ports[index % ports.length] ?? target.port;
      slots.push(addSlot({ ...target, port }));
    }
    if (opening > 0) await allOpen;
  },
  measure: async () => startMeasuring(),
  collect: async () => {
    isMeasuring = false;
    const [delay, gap, first] = [samples.delay, samples.gap, samples.first];
    return {
      seconds: (microseconds() - measuredFrom) / 1e6,
      events: measuredEvents,
      delay: delay.quantiles(true),
      gap: gap.quantiles(),
      first: first.quantiles(),
    };
  },
  stopRenewing: async () => {
    isRenewing = false;
  },
  drain,
  drop: async () => clear(),
  probe,
};

serveCalls(calls);
