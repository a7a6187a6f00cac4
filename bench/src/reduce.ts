/**
 * Expansion and ordering beside the official client on the same events, and the reducer on short and
 * long answers: a text delta must cost the same whatever came before it.
 */
import { transformChunks, verifyEvents } from "@ag-ui/client";
import type { AgUiEvent } from "@countersign/wire";
import { createChunkExpander } from "@countersign/wire/chunks";
import { createRunAutomaton } from "@countersign/wire/order";
import { createReducer } from "@countersign/wire/reduce";
import { from } from "rxjs";
import { compare, report } from "./harness.js";
import type { Case } from "./harness.js";
import { textRun } from "./text-run.js";

type OfficialSource = Parameters<ReturnType<typeof verifyEvents>>[0];

function verifyOfficially(events: AgUiEvent[]): number {
  let count = 0;
  const source = from(events) as unknown as OfficialSource;
  source.pipe(transformChunks(), verifyEvents()).subscribe(() => {
    count += 1;
  });
  return count;
}

function judge(events: AgUiEvent[]): number {
  const expander = createChunkExpander();
  const automaton = createRunAutomaton();
  let count = 0;
  for (const event of events) {
    for (const expanded of expander.push(event)) {
      if (automaton.push(expanded).length > 0) throw new Error("the stream is valid");
      count += 1;
    }
  }
  return count;
}

/** `every`: a view per this many events, as a screen does at each frame. */
function reduceWith(every: number): (events: AgUiEvent[]) => number {
  return (events) => {
    const reducer = createReducer();
    for (const [index, event] of events.entries()) {
      reducer.push(event);
      if (index % every === 0) reducer.snapshot();
    }
    if (reducer.snapshot().status !== "finished") throw new Error("the run is finished");
    return events.length;
  };
}

function sizes(every: number): Case<AgUiEvent[]>[] {
  return [1_000, 10_000, 100_000].map((deltas) => ({
    name: `an answer of ${deltas.toLocaleString("en")} deltas`,
    prepare: () => textRun(deltas),
    run: reduceWith(every),
  }));
}

const prepare = (): AgUiEvent[] => textRun(5_000);

report("reduce", "Events to order, events to a view", {
  "expand and order": compare([
    { name: "@ag-ui/client 1.0.0: transformChunks, verifyEvents", prepare, run: verifyOfficially },
    { name: "countersign: expand, order", prepare, run: judge },
  ]),
  "reduce, one view at the end": compare(sizes(Number.POSITIVE_INFINITY), { rounds: 15 }),
  "reduce, a view after every event": compare(sizes(1), { rounds: 15 }),
});
