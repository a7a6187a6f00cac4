/**
 * A long answer on its way to the screen: deltas reduced, read from the wire, and rendered, by us,
 * by the official client and (rendered only) by CopilotKit's hook on the same stream. A delta must
 * cost the same whatever came before it.
 */
import { defaultApplyEvents, HttpAgent } from "@ag-ui/client";
import { createAgentStore, postSse } from "@countersign/client";
import type { AgUiEvent } from "@countersign/wire";
import { createReducer } from "@countersign/wire/reduce";
import { from } from "rxjs";
import { compareAsync } from "./client-compare.js";
import type { AsyncCase } from "./client-compare.js";
import { drawingCases } from "./client-drawing.js";
import { report } from "./harness.js";
import { textRun } from "./text-run.js";

const INPUT = { threadId: "thread", runId: "run", messages: [], tools: [], context: [] };

type ApplyParameters = Parameters<typeof defaultApplyEvents>;

async function applyOfficially(events: AgUiEvent[]): Promise<number> {
  const agent = { messages: [], state: {}, pendingInterrupts: [] };
  let last = "";
  await new Promise<void>((resolve, reject) => {
    defaultApplyEvents(
      INPUT as unknown as ApplyParameters[0],
      from(events) as unknown as ApplyParameters[1],
      agent as unknown as ApplyParameters[2],
      [],
    ).subscribe({
      next: ({ messages }) => {
        last = String(messages?.at(-1)?.content ?? last);
      },
      error: reject,
      complete: resolve,
    });
  });
  if (last.length < events.length) throw new Error("the answer is complete");
  return events.length;
}

function reduceWithView(every: number): (events: AgUiEvent[]) => Promise<number> {
  return (events) => {
    const reducer = createReducer();
    for (const [index, event] of events.entries()) {
      reducer.push(event);
      if (index % every === 0) reducer.snapshot();
    }
    if (reducer.snapshot().status !== "finished") throw new Error("the run is finished");
    return Promise.resolve(events.length);
  };
}

const encoder = new TextEncoder();

/** The answer as a response whose body arrives in pieces of 16 KiB. */
function responseOf(events: AgUiEvent[]): Response {
  const bytes = encoder.encode(
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
  );
  let offset = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (offset >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(offset, offset + 16_384));
      offset += 16_384;
      return undefined;
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function readOfficially(events: AgUiEvent[]): Promise<number> {
  const agent = new HttpAgent({
    url: "http://agent.invalid/",
    threadId: "thread",
    fetch: () => Promise.resolve(responseOf(events)),
  });
  await agent.runAgent({ runId: "run" });
  if (agent.messages.length !== 1) throw new Error("the answer is there");
  return events.length;
}

async function readByStore(events: AgUiEvent[]): Promise<number> {
  const transport = postSse({
    url: "http://agent.invalid/",
    fetch: () => Promise.resolve(responseOf(events)),
  });
  const store = createAgentStore({ transport, threadId: "thread", mintId: (kind) => kind });
  const leave = store.subscribe(() => {});
  const { status } = await store.send();
  leave();
  if (status !== "done") throw new Error("the run is done");
  return events.length;
}

const LONG = (): AgUiEvent[] => textRun(10_000);

function sizes(name: string, run: AsyncCase<AgUiEvent[]>["run"]): AsyncCase<AgUiEvent[]>[] {
  return [1000, 10_000, 100_000].map((deltas) => ({
    name: `${name}, ${deltas.toLocaleString("en")} deltas`,
    prepare: () => textRun(deltas),
    run,
  }));
}

report("client", "Deltas on their way to the screen, per second of processor time", {
  "events to a view, 10,000 deltas": await compareAsync([
    { name: "@ag-ui/client 1.0.0: defaultApplyEvents", prepare: LONG, run: applyOfficially },
    { name: "countersign: reducer, a view per event", prepare: LONG, run: reduceWithView(1) },
    {
      name: "countersign: reducer, a view per 100 events",
      prepare: LONG,
      run: reduceWithView(100),
    },
  ]),
  "bytes to a view, 10,000 deltas": await compareAsync([
    { name: "@ag-ui/client 1.0.0: HttpAgent", prepare: LONG, run: readOfficially },
    { name: "countersign: store over postSse", prepare: LONG, run: readByStore },
  ]),
  "cost per delta as the answer grows": await compareAsync(
    sizes("countersign: store", readByStore),
  ),
  "bytes to a drawn page in React, 2,000 deltas": await compareAsync(
    await drawingCases(() => textRun(2000), responseOf),
  ),
});
