import { createSseDecoder } from "@countersign/wire/sse";
import * as fc from "fast-check";
import { request } from "node:http";
import { connect } from "node:http2";
import { afterEach, expect, test } from "vitest";
import { createAccess } from "../../access/access.js";
import type { Access, Grant } from "../../access/access.js";
import type { ListenLimits } from "../../base/limits.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../../testing/fixture.js";
import { startIdentity } from "../../testing/identity.js";
import type { Identity } from "../../testing/identity.js";
import { selfSigned } from "../../testing/self-signed.js";
import { readStream } from "../../testing/stream-reader.js";
import type { ReadFrame, StreamReader } from "../../testing/stream-reader.js";
import {
  ask,
  comeBack,
  createTalker,
  INPUT,
  noticed,
  textOf,
  typesOf,
} from "../../testing/talker.js";
import type { Talker } from "../../testing/talker.js";

let fixture: Fixture | undefined;
let identity: Identity | undefined;
afterEach(async () => {
  await fixture?.stop();
  await identity?.stop();
  fixture = undefined;
  identity = undefined;
});

async function start(
  talker: Talker,
  listenLimits: Partial<ListenLimits> = {},
  gateway: FixtureOptions["gateway"] = {},
): Promise<Fixture> {
  fixture = await startFixture(talker.script, { gateway: { listenLimits, ...gateway } });
  return fixture;
}

test("however often a connection breaks, its client gets each event once, in order, each with one receipt", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 }), async (cuts) => {
      const talker = createTalker(20);
      const context = await start(talker);
      talker.upTo(20);
      const got: ReadFrame[] = [];
      let reader = await ask(context, { dropAfter: cuts[0] ?? 99 });
      for (const dropAfter of [...cuts.slice(1), 99]) {
        await reader.closed;
        got.push(...reader.frames);
        if (typesOf(got).includes("RUN_FINISHED")) break;
        reader = await comeBack(context, got.at(-1), { dropAfter });
        expect(reader.status).toBe(200);
      }
      await reader.closed;
      if (!typesOf(got).includes("RUN_FINISHED")) got.push(...reader.frames);
      expect(typesOf(got)).toEqual([
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        ...Array.from({ length: 20 }, () => "TEXT_MESSAGE_CONTENT"),
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
      ]);
      expect(textOf(got)).toBe(Array.from({ length: 20 }, (_, word) => `${word} `).join(""));
      expect(context.agentRequests).toHaveLength(1);
      // The request, and each of the 24 events.
      expect(context.recorder.drafts).toHaveLength(25);
      await context.stop();
    }),
    { numRuns: 20 },
  );
});

test("a connection that breaks before the first event loses none", async () => {
  const talker = createTalker(1);
  const context = await start(talker);
  let place = "";
  const asked = request(`${context.url}/agents/support?reconnect=1`, { method: "POST" });
  asked.on("error", () => undefined);
  asked.end(JSON.stringify(INPUT));
  await new Promise<void>((resolve) => {
    asked.on("response", (answer) => {
      answer.on("error", () => undefined);
      answer.once("data", (bytes: Buffer) => {
        place = /^id: (\S+)\n\n/u.exec(String(bytes))?.[1] ?? "";
        asked.destroy();
        resolve();
      });
    });
  });
  expect(place).toMatch(/\.0$/u);
  talker.upTo(1);
  const reader = await comeBack(context, { id: place, data: "" });
  await reader.closed;
  expect(typesOf(reader.frames)[0]).toBe("RUN_STARTED");
  expect(typesOf(reader.frames).at(-1)).toBe("RUN_FINISHED");
});

test("over HTTP/2 a broken stream resumes while others of its connection continue", async () => {
  const talker = createTalker(3);
  const context = await start(talker, {}, { tls: selfSigned() });
  const session = connect(context.url.replace("http:", "https:"), { rejectUnauthorized: false });
  const read = (lastEventId?: string) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/agents/support?reconnect=1",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    });
    const decoder = createSseDecoder();
    const frames: ReadFrame[] = [];
    stream.on("error", () => undefined);
    stream.on("data", (bytes: Buffer) => {
      for (const { data, id } of decoder.push(bytes)) frames.push({ id, data });
    });
    stream.end(JSON.stringify(INPUT));
    return { stream, frames, closed: new Promise((resolve) => stream.once("close", resolve)) };
  };
  try {
    talker.upTo(1);
    const first = read();
    await expect.poll(() => first.frames.length).toBe(3);
    first.stream.close(8);
    await noticed(context);
    const second = read(first.frames.at(-1)?.id);
    talker.upTo(3);
    await second.closed;
    expect(textOf(second.frames)).toBe("1 2 ");
    expect(typesOf(second.frames).at(-1)).toBe("RUN_FINISHED");
  } finally {
    session.destroy();
  }
});

test("events sent while the client is disconnected, the end included, wait for it; then the stream is over", async () => {
  const talker = createTalker(3);
  const context = await start(talker);
  talker.upTo(1);
  const first = await ask(context, { dropAfter: 3 });
  await first.closed;
  await noticed(context);
  talker.upTo(3);
  await expect.poll(() => context.gateway.context.sessions.openRuns().length).toBe(0);
  const second = await comeBack(context, first.frames.at(-1));
  await second.closed;
  expect(textOf(second.frames)).toBe("1 2 ");
  expect(typesOf(second.frames).at(-1)).toBe("RUN_FINISHED");
});

test("an unknown event id starts no run and gets the same response as a dropped one", async () => {
  const talker = createTalker(3);
  const context = await start(talker);
  talker.upTo(1);
  const first = await ask(context, { dropAfter: 2 });
  await first.closed;
  const key = first.frames[0]?.id?.split(".")[0];
  for (const id of ["", "x", `${key}.99`, `${key}.-1`, `${key}.1e1`, `${"A".repeat(22)}.1`]) {
    const tried = await comeBack(context, { id, data: "" });
    expect(tried.status, id).toBe(410);
  }
  expect(context.agentRequests).toHaveLength(1);
});

test("the latest connection has the stream: an earlier one that is dead unnoticed is closed", async () => {
  const talker = createTalker(3);
  const context = await start(talker);
  talker.upTo(1);
  const first = await ask(context);
  await expect.poll(() => first.frames.length).toBe(3);
  const second = await comeBack(context, first.frames[1]);
  await first.closed;
  expect(talker.hungUp).toEqual([]);
  talker.upTo(3);
  await second.closed;
  expect(textOf(second.frames)).toBe("0 1 2 ");
  expect(first.frames).toHaveLength(3);
});

test("only its own principal can resume a stream, even with the event id known", async () => {
  identity = await startIdentity();
  const talker = createTalker(3);
  const context = await start(talker, {}, { access: createAccess([identity.authenticator()]) });
  const bearer = async (name: string): Promise<{ authorization: string }> => ({
    authorization: `Bearer ${await (identity as Identity).token(name)}`,
  });
  talker.upTo(1);
  const first = await ask(context, { dropAfter: 3, headers: await bearer("alice") });
  await first.closed;
  const last = first.frames.at(-1);
  expect((await comeBack(context, last, { headers: await bearer("bob") })).status).toBe(410);
  expect((await comeBack(context, last)).status).toBe(401);
  const second = await comeBack(context, last, { headers: await bearer("alice") });
  talker.upTo(3);
  await second.closed;
  expect(textOf(second.frames)).toBe("1 2 ");
});

test("a thread continues after a run whose client never returned for its end", async () => {
  const talker = createTalker(2);
  const context = await start(talker, { reconnectGraceMs: 50 });
  talker.upTo(1);
  const first = await ask(context, { dropAfter: 3 });
  await first.closed;
  await noticed(context);
  talker.upTo(2);
  await expect.poll(() => context.gateway.context.sessions.openRuns().length).toBe(0);
  const messages = [
    ...INPUT.messages,
    { id: "m1", role: "assistant", content: "0 " },
    { id: "u2", role: "user", content: "again" },
  ];
  const next = await ask(context, { body: { ...INPUT, runId: "r2", messages } });
  expect(next.status).toBe(200);
  await next.closed;
  expect(typesOf(next.frames).at(-1)).toBe("RUN_FINISHED");
});

test("an EventSource resumes by itself, and is told to stop when its run is over", async () => {
  const talker = createTalker(3);
  const context = await start(talker);
  talker.upTo(1);
  const url = `${context.url}/ag-ui/stream?session=s1&reconnect=1`;
  const first = await readStream(url, { method: "GET", dropAfter: 3 });
  await first.closed;
  talker.upTo(3);
  const back = (last: ReadFrame | undefined): Promise<StreamReader> =>
    readStream(url, { method: "GET", headers: { "last-event-id": last?.id ?? "" } });
  const second = await back(first.frames.at(-1));
  await second.closed;
  expect(textOf(second.frames)).toBe("1 2 ");
  expect((await back(second.frames.at(-1))).status).toBe(204);
  expect(context.agentRequests).toHaveLength(1);
});

/** An access control in which every token is alice's, as long as it is valid. */
function createAliceAccess(valid: ReadonlySet<string>): Access {
  const grantOf = (token: string): Grant => ({
    principal: { id: "alice" },
    name: { way: token, principal: "alice" },
    isValid: () => valid.has(token),
  });
  return createAccess([
    {
      authenticate: async (token) => (valid.has(token) ? grantOf(token) : undefined),
      restore: ({ way }) => grantOf(way),
    },
  ]);
}

test("a connection that resumes a stream ends with its own credential; the stream continues with a valid one", async () => {
  const valid = new Set(["long", "short"]);
  const talker = createTalker(3);
  const context = await start(talker, {}, { access: createAliceAccess(valid) });
  const headers = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  talker.upTo(1);
  const first = await ask(context, { dropAfter: 3, ...headers("long") });
  await first.closed;
  const second = await comeBack(context, first.frames.at(-1), headers("short"));
  expect(second.status).toBe(200);
  valid.delete("short");
  await second.closed;
  expect((await comeBack(context, first.frames.at(-1), headers("short"))).status).toBe(401);
  const third = await comeBack(context, first.frames.at(-1), headers("long"));
  talker.upTo(3);
  await third.closed;
  expect(textOf(third.frames)).toBe("1 2 ");
  expect(typesOf(third.frames).at(-1)).toBe("RUN_FINISHED");
});

test("a stream that was opened with a ticket is resumed with it while the credential behind it is valid", async () => {
  const valid = new Set(["token"]);
  const talker = createTalker(3);
  const context = await start(talker, {}, { access: createAliceAccess(valid) });
  const asked = { method: "POST", headers: { authorization: "Bearer token" } };
  const issued = await fetch(`${context.url}/ag-ui/tickets?session=s1`, asked);
  const url = `${context.url}${((await issued.json()) as { url: string }).url}&reconnect=1`;
  talker.upTo(1);
  const first = await readStream(url, { method: "GET", dropAfter: 3 });
  await first.closed;
  const back = (dropAfter?: number): Promise<StreamReader> => {
    const lastEventId = { "last-event-id": first.frames[0]?.id ?? "" };
    return readStream(url, { method: "GET", headers: lastEventId, dropAfter: dropAfter ?? 99 });
  };
  const second = await back(1);
  expect(second.status).toBe(200);
  await second.closed;
  valid.delete("token");
  expect((await back()).status).toBe(204);
});
