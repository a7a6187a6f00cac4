/**
 * The agent of the load bench, in its own process: plain sockets and prepared frames, so that it
 * costs as little as possible. One HTTP chunk per event, as agents write them.
 */
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { microseconds } from "./clock.js";
import { FRAMING_EVENTS, beginning, contents, ending, sizeOf } from "./frames.js";
import { serveCalls } from "./peer.js";
import { createRequestReader } from "./request-reader.js";
import { PROBE_THREAD } from "./work.js";
import type { AgentCalls, Kind, Plan } from "./work.js";

type Stream = {
  readonly socket: Socket;
  readonly threadId: string;
  readonly runId: string;
  left: number;
};

let plan: Plan = { kind: "idle" };
let isFinishing = false;
let turn = 0;
let credit = 0;
let planStartedAt = 0;
let issued = 0;
/** Number of different positions of streams when a plan starts. */
const AGES = 64;
const open: Stream[] = [];
const tally = { opened: 0, finished: 0, lost: 0, contents: 0, events: 0 };

function leave(stream: Stream): boolean {
  const index = open.indexOf(stream);
  if (index === -1) return false;
  const last = open.pop();
  if (last !== undefined && last !== stream) open[index] = last;
  return true;
}

function finish(stream: Stream): void {
  leave(stream);
  stream.socket.write(ending(stream.threadId, stream.runId));
  tally.finished += 1;
  tally.events += FRAMING_EVENTS;
}

function send(stream: Stream, count: number, kind: Kind = "text"): void {
  for (const piece of contents(kind, count, microseconds())) stream.socket.write(piece);
  const { events, stamped } = sizeOf(kind);
  tally.contents += count * stamped;
  tally.events += count * events;
  stream.left -= count;
  if (stream.left <= 0) finish(stream);
}

function sendToNext(count: number, kind?: Kind): void {
  if (turn >= open.length) turn = 0;
  const stream = open[turn++];
  if (stream !== undefined) send(stream, count, kind);
}

/** Sends the due events; after a pause of the whole machine missed events are not caught up. */
function keepPace(): void {
  if (plan.kind !== "even") return;
  const due = Math.floor(((microseconds() - planStartedAt) / 1e6) * plan.eventsPerSecond) - issued;
  issued += due;
  const most = Math.max(4, plan.eventsPerSecond / 10);
  for (let sent = Math.max(0, due - most); sent < due && open.length > 0; sent++) sendToNext(1);
}

function fillWindow(): void {
  if (plan.kind !== "window") return;
  const cost = plan.block * sizeOf(plan.of).stamped;
  while (credit >= cost && open.length > 0) {
    credit -= cost;
    sendToNext(plan.block, plan.of);
  }
}

/** Runs of different lengths, so that they do not all end at once. */
function runLength(number: number): number {
  if (plan.kind !== "even" || plan.eventsPerRun === undefined) return Number.POSITIVE_INFINITY;
  return Math.round(plan.eventsPerRun * (0.5 + ((number * 37) % 100) / 100));
}

function serve(socket: Socket): void {
  let current: Stream | undefined;
  socket.setNoDelay(true);
  const read = createRequestReader((body) => {
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
    const isProbe = threadId.startsWith(PROBE_THREAD);
    const stream = { socket, threadId, runId, left: isProbe ? 1 : runLength(tally.opened) };
    current = stream;
    tally.opened += 1;
    socket.write(beginning(threadId, runId));
    if (isProbe) {
      send(stream, 1);
      return;
    }
    open.push(stream);
    if (isFinishing) finish(stream);
    else fillWindow();
  });
  socket.on("data", read);
  socket.on("error", () => {});
  socket.on("close", () => {
    if (current !== undefined && leave(current)) tally.lost += 1;
  });
}

/** The client sends the number of received events here, as 32-bit numbers. */
function readAcknowledgements(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (piece: Buffer) => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    for (; at + 4 <= rest.length; at += 4) credit += rest.readUInt32LE(at);
    rest = rest.subarray(at);
    fillWindow();
  });
  socket.on("error", () => {});
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () =>
      resolve((server.address() as AddressInfo).port),
    );
  });
}

const calls: AgentCalls = {
  start: async () => ({
    port: await listen(createServer(serve)),
    acknowledgePort: await listen(createServer(readAcknowledgements)),
  }),
  plan: async (next) => {
    plan = next;
    isFinishing = false;
    // In the middle of their runs, at different positions: from the start as many end as later.
    open.forEach((stream, index) => {
      stream.left = Math.ceil((runLength(index) * ((index % AGES) + 1)) / AGES);
    });
    planStartedAt = microseconds();
    issued = 0;
    credit = next.kind === "window" ? next.inFlight * sizeOf(next.of).stamped : 0;
    fillWindow();
  },
  finish: async () => {
    isFinishing = true;
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) finish(last);
  },
  tally: async () => ({ ...tally }),
};

setInterval(keepPace, 1);
serveCalls(calls);
