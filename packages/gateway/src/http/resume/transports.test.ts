import { createProtoDecoder } from "@countersign/wire/proto";
import { startRedis } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import { request } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startLinked } from "../../testing/linked.js";
import type { Linked, LinkedGateway } from "../../testing/linked.js";
import { ask, comeBack, createTalker, INPUT, textOf, typesOf } from "../../testing/talker.js";

type Got = { readonly type: string; readonly delta?: string; readonly code?: string };

let server: RunningRedis;
let linked: Linked;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
afterEach(() => linked.stop());

const start = async (words: number) => {
  const talker = createTalker(words);
  linked = await startLinked(talker.script, {}, server);
  return { talker, ...linked };
};

/** Opens a socket and sends a frame; `id` is the position of its last event. */
function openSocket(
  { webSocketUrl }: LinkedGateway,
  frame: object,
  { query = "reconnect=1", dropAfter = 999 } = {},
) {
  const socket = new WebSocket(`${webSocketUrl}/agents/support/ws?${query}`);
  const events: Got[] = [];
  let key = "";
  let count = 0;
  socket.once("open", () => socket.send(JSON.stringify(frame)));
  socket.on("message", (data) => {
    const event = JSON.parse(String(data)) as Got & { id?: string };
    if (event.type === "STREAM") {
      const [, name = "", after] = /^(.*)\.(\d+)$/u.exec(event.id ?? "") ?? [];
      key = name;
      count = Number(after);
      return;
    }
    if (events.length >= dropAfter) return;
    events.push(event);
    count += 1;
    if (events.length >= dropAfter) socket.terminate();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  return { socket, events, closed, id: () => `${key}.${count}` };
}

const deltas = (events: readonly Got[]): string => events.map(({ delta = "" }) => delta).join("");
function finished(events: readonly Got[]): Promise<void> {
  return expect.poll(() => events.at(-1)?.type, { timeout: 5000 }).toBe("RUN_FINISHED");
}

test.each(["first", "second"] as const)(
  "a WebSocket that breaks is resumed on a new socket at the %s gateway; the socket then takes the next run",
  async (where) => {
    const { talker, first, ...others } = await start(4);
    talker.upTo(2);
    const began = openSocket(first, INPUT, { dropAfter: 3 });
    await began.closed;
    const there = where === "first" ? first : others.second;
    const resume = { type: "RESUME", id: began.id() };
    const back = openSocket(there, resume);
    talker.upTo(4);
    await finished(back.events);
    expect(deltas([...began.events, ...back.events])).toBe("0 1 2 3 ");
    expect([...began.events, ...back.events]).toHaveLength(8);
    expect(first.agentRequests).toHaveLength(1);
    const messages = [
      ...INPUT.messages,
      { id: "m1", role: "assistant", content: "0 1 2 3 " },
      { id: "u2", role: "user", content: "again" },
    ];
    const next = { ...INPUT, threadId: "t2", runId: "r2", messages: messages.slice(2) };
    back.socket.send(JSON.stringify(next));
    await expect
      .poll(() => back.events.filter(({ type }) => type === "RUN_FINISHED"))
      .toHaveLength(2);
    back.socket.close();
  },
);

test("a socket without reconnect=1 gets no frame but events, and its run ends with it", async () => {
  const { talker, first } = await start(2);
  talker.upTo(1);
  const began = openSocket(first, INPUT, { query: "", dropAfter: 3 });
  await began.closed;
  expect(began.id()).toBe(".3");
  await expect.poll(() => talker.hungUp).toEqual(["r1"]);
});

test("an unknown position on a socket is refused as over HTTP, and starts no run", async () => {
  const { first } = await start(1);
  const tried = openSocket(first, { type: "RESUME", id: `${"A".repeat(22)}.1` });
  expect(await tried.closed).toBe(1008);
  expect(tried.events).toMatchObject([{ type: "RUN_ERROR", code: "ERR_STREAM_GONE" }]);
  expect(first.agentRequests).toHaveLength(0);
});

test("a stop on a socket that resumed stops the run at its own gateway, and is ordered from another", async () => {
  const { talker, first, second } = await start(3);
  talker.upTo(1);
  const orders: object[] = [];
  Object.assign(second.gateway.context, {
    stopElsewhere: async (order: object) => {
      orders.push(order);
      return [];
    },
  });
  const began = openSocket(first, INPUT, { dropAfter: 3 });
  await began.closed;
  const there = openSocket(second, { type: "RESUME", id: began.id() });
  await expect.poll(() => there.id()).toBe(began.id());
  there.socket.send('{"type":"STOP"}');
  await expect.poll(() => orders).toMatchObject([{ run: "r1", principal: "anonymous" }]);
  there.socket.terminate();
  await there.closed;
  const here = openSocket(first, { type: "RESUME", id: began.id() });
  await expect.poll(() => here.id()).toBe(began.id());
  here.socket.send('{"type":"STOP"}');
  await expect.poll(() => here.events.at(-1)).toMatchObject({ code: "RUN_STOPPED" });
  here.socket.close();
});

/** Reads a stream in protobuf; `id` is the position of its last event. */
function readProto({ url }: LinkedGateway, lastEventId?: string, dropAfter = 999) {
  return new Promise<{ events: Got[]; closed: Promise<void>; id(): string }>((resolve) => {
    const headers = {
      accept: "application/vnd.ag-ui.event+proto",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    const asked = request(`${url}/agents/support?reconnect=1`, { method: "POST", headers });
    asked.on("error", () => undefined);
    asked.on("response", (answer) => {
      const decoder = createProtoDecoder();
      const events: Got[] = [];
      answer.on("error", () => undefined);
      answer.on("data", (bytes: Buffer) => {
        for (const event of decoder.push(bytes)) {
          if (events.length < dropAfter) events.push(event as unknown as Got);
        }
        if (events.length >= dropAfter) asked.destroy();
      });
      const [, after = 0] = lastEventId?.split(".") ?? [];
      const key = String(answer.headers["countersign-stream"]);
      const id = (): string => `${key}.${Number(after) + events.length}`;
      const closed = new Promise<void>((over) => answer.once("close", () => over()));
      resolve({ events, closed, id });
    });
    asked.end(JSON.stringify(INPUT));
  });
}

test.each(["first", "second"] as const)(
  "a protobuf stream is resumed at the %s gateway by the count of its events",
  async (where) => {
    const { talker, first, second } = await start(4);
    talker.upTo(2);
    const began = await readProto(first, undefined, 3);
    await began.closed;
    const back = await readProto(where === "first" ? first : second, began.id());
    talker.upTo(4);
    await back.closed;
    expect(deltas([...began.events, ...back.events])).toBe("0 1 2 3 ");
    expect(back.events.at(-1)?.type).toBe("RUN_FINISHED");
    expect([...began.events, ...back.events]).toHaveLength(8);
  },
);

test("a stream that began on a socket is resumed over SSE, and the other way round", async () => {
  const { talker, first, second } = await start(4);
  talker.upTo(1);
  const began = openSocket(first, INPUT, { dropAfter: 3 });
  await began.closed;
  const middle = await comeBack(second, { id: began.id(), data: "" }, { dropAfter: 1 });
  talker.upTo(2);
  await middle.closed;
  const back = openSocket(first, { type: "RESUME", id: middle.frames.at(-1)?.id });
  talker.upTo(4);
  await finished(back.events);
  expect(deltas([...began.events, ...back.events])).toBe("0 2 3 ");
  expect(textOf(middle.frames)).toBe("1 ");
  back.socket.close();
});

test.each(["first", "second"] as const)(
  "viewers at the %s gateway get every event beside the client, also after it has left",
  async (where) => {
    const { talker, first, second } = await start(4);
    const there = where === "first" ? first : second;
    talker.upTo(1);
    const main = await ask(first);
    await expect.poll(() => main.frames.length).toBe(3);
    const position = { id: `${main.frames[0]?.id?.split(".")[0]}.0`, data: "" };
    const view = async (base: LinkedGateway) =>
      comeBack({ url: base.url }, position, {}, "&view=1");
    const [one, two] = [await view(there), await view(there)];
    talker.upTo(2);
    for (const { frames } of [main, one, two]) {
      await expect.poll(() => textOf(frames), { timeout: 5000 }).toBe("0 1 ");
    }
    main.tear();
    two.tear();
    talker.upTo(4);
    await one.closed;
    expect(textOf(one.frames)).toBe("0 1 2 3 ");
    expect(typesOf(one.frames)).toHaveLength(8);
    expect(one.isWhole()).toBe(true);
  },
);
