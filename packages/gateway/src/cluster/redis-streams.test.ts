import { sha256Hex } from "@countersign/core";
import { startRedis } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import * as fc from "fast-check";
import { connect } from "node:http2";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createAccess } from "../access/access.js";
import type { GatewayOptions } from "../serve/gateway.js";
import { startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";
import { startLinked } from "../testing/linked.js";
import type { Linked, LinkedGateway } from "../testing/linked.js";
import { selfSigned } from "../testing/self-signed.js";
import { readStream } from "../testing/stream-reader.js";
import type { ReadFrame } from "../testing/stream-reader.js";
import { ask, comeBack, createTalker, INPUT, noticed, textOf, typesOf } from "../testing/talker.js";
import type { Talker } from "../testing/talker.js";

const WAIT = { timeout: 10_000, interval: 10 };

let server: RunningRedis;
let linked: Linked | undefined;
let identity: Identity | undefined;
const stop = async (): Promise<void> => {
  await linked?.stop();
  linked = undefined;
};
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
afterEach(async () => {
  await stop();
  await identity?.stop();
  identity = undefined;
});

async function start(talker: Talker, gateway: Partial<GatewayOptions> = {}): Promise<Linked> {
  linked = await startLinked(talker.script, gateway, server);
  return linked;
}

const sharedAt = ({ gateway }: LinkedGateway) => gateway.context.telemetry.sharedStreams;
const resultsAt = (fixture: LinkedGateway): unknown[] =>
  [...sharedAt(fixture).results.entries()].map(([result, , count]) => [result, count]);
/** Waits until a gateway knows that some connection reads its stream, possibly elsewhere. */
function attached({ gateway }: LinkedGateway): Promise<void> {
  const isAway = (): boolean | undefined =>
    [...gateway.context.telemetry.openRuns].some(({ sink }) => sink.isDisconnected);
  return expect.poll(isAway).toBe(false);
}

/** Waits until Redis has everything that a gateway sent. */
function stored(fixture: LinkedGateway): Promise<void> {
  return expect.poll(() => sharedAt(fixture).incomplete, WAIT).toBe(0);
}

test("a client that resumes at any gateway after any number of disconnects gets each event once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.boolean()), { maxLength: 8 }),
      async (cuts) => {
        const talker = createTalker(20);
        const { first, second } = await start(talker);
        talker.upTo(20);
        const got: ReadFrame[] = [];
        let reader = await ask(first, { dropAfter: cuts[0]?.[0] ?? 99 });
        for (const [dropAfter, isElsewhere] of [...cuts.slice(1), [99, true] as const]) {
          await reader.closed;
          got.push(...reader.frames);
          if (typesOf(got).includes("RUN_FINISHED")) break;
          reader = await comeBack(isElsewhere ? second : first, got.at(-1), { dropAfter });
          expect(reader.status).toBe(200);
        }
        await reader.closed;
        if (!typesOf(got).includes("RUN_FINISHED")) got.push(...reader.frames);
        expect(typesOf(got)).toHaveLength(24);
        expect(typesOf(got).at(-1)).toBe("RUN_FINISHED");
        expect(textOf(got)).toBe(Array.from({ length: 20 }, (_, word) => `${word} `).join(""));
        expect([first.agentRequests, second.agentRequests].map((all) => all.length)).toEqual([
          1, 0,
        ]);
        // The request and each of the 24 events, once: a resumed event is not signed again.
        expect([first.recorder.drafts.length, second.recorder.drafts.length]).toEqual([25, 0]);
        await expect.poll(() => sharedAt(second).followed).toBe(0);
        await stop();
      },
    ),
    { numRuns: 15 },
  );
}, 60_000);

test("a finished run is resumed from every event, whether its gateway lives or not", async () => {
  const talker = createTalker(12);
  const { first, second } = await start(talker);
  const began = await ask(first);
  for (let word = 1; word <= 12; word += 1) {
    talker.upTo(word);
    await expect.poll(() => textOf(began.frames)).toContain(`${word - 1} `);
  }
  await began.closed;
  await stored(first);
  const start0 = { id: `${began.frames[0]?.id?.split(".")[0]}.0`, data: "" };
  for (const isAlive of [true, false]) {
    if (!isAlive) await first.cutOff();
    for (const [count, place] of [start0, ...began.frames].entries()) {
      const back = await comeBack(second, place);
      expect(back.status).toBe(200);
      await back.closed;
      expect(back.frames).toEqual(began.frames.slice(count));
    }
  }
  expect(second.recorder.drafts).toEqual([]);
});

test("a client that had the end of its run before it was stored is told no error; another reader is", async () => {
  const talker = createTalker(3);
  const { first, second } = await start(talker);
  talker.upTo(2);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(4);
  await stored(first);
  began.tear();
  await first.cutOff();
  const key = began.frames[0]?.id?.split(".")[0];
  const whole = await comeBack(second, { id: `${key}.6.over`, data: "" });
  await whole.closed;
  expect(whole.frames).toEqual([]);
  expect(whole.isWhole()).toBe(true);
  expect(second.recorder.drafts).toEqual([]);
  const other = await comeBack(second, began.frames[2]);
  await other.closed;
  expect(typesOf(other.frames)).toEqual(["TEXT_MESSAGE_CONTENT", "RUN_ERROR"]);
}, 30_000);

test("a run is resumed from every event of a gateway that is gone, and each time ends with the same error", async () => {
  const talker = createTalker(6);
  const { first, second } = await start(talker);
  talker.upTo(5);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(7);
  await stored(first);
  began.tear();
  await first.cutOff();
  const readers = await Promise.all(began.frames.map((frame) => comeBack(second, frame)));
  await Promise.all(readers.map(({ closed }) => closed));
  const error = readers[0]?.frames.at(-1);
  expect(JSON.parse(error?.data ?? "")).toMatchObject({ code: "GATEWAY_LOST" });
  for (const [count, { frames }] of readers.entries()) {
    expect(frames).toEqual([...began.frames.slice(count + 1), error]);
  }
  expect(second.recorder.drafts).toHaveLength(1);
}, 30_000);

test("the last connection to resume has the stream, at whichever gateway", async () => {
  const talker = createTalker(4);
  const { first, second } = await start(talker);
  talker.upTo(1);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(3);
  const passed = await comeBack(second, began.frames.at(-1));
  await began.closed;
  talker.upTo(2);
  await expect.poll(() => passed.frames.length).toBe(1);
  expect(sharedAt(second).followed).toBe(1);
  passed.tear();
  await noticed(first);
  const again = await comeBack(second, passed.frames.at(-1));
  await attached(first);
  // The client resumes at the first gateway, which closes the connection at the second.
  const home = await comeBack(first, passed.frames.at(-1));
  await again.closed;
  talker.upTo(4);
  await home.closed;
  expect(textOf(home.frames)).toBe("2 3 ");
  await expect.poll(() => sharedAt(second).followed).toBe(0);
});

test("only its principal can resume a stream, at every gateway and under its agent", async () => {
  identity = await startIdentity();
  const talker = createTalker(3);
  const { first, second } = await start(talker, {
    access: createAccess([identity.authenticator()]),
  });
  const bearer = async (name: string): Promise<{ authorization: string }> => ({
    authorization: `Bearer ${await (identity as Identity).token(name)}`,
  });
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3, headers: await bearer("alice") });
  await began.closed;
  const last = began.frames.at(-1);
  expect((await comeBack(second, last)).status).toBe(401);
  expect((await comeBack(second, last, { headers: await bearer("bob") })).status).toBe(410);
  const back = await comeBack(second, last, { headers: await bearer("alice") });
  talker.upTo(3);
  await back.closed;
  expect(textOf(back.frames)).toBe("1 2 ");
  expect(resultsAt(second)).toEqual([
    ["gone", 1],
    ["taken", 1],
  ]);
});

test("an invented id costs no query, and gets the response of an unknown stream", async () => {
  const talker = createTalker(2);
  const { first, second } = await start(talker);
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3 });
  await began.closed;
  const key = began.frames[0]?.id?.split(".")[0] ?? "";
  const commands = async (): Promise<number> =>
    Number(/cmdstat_get:calls=(\d+)/u.exec(await server.cli("INFO", "commandstats"))?.[1] ?? 0);
  const before = await commands();
  const letter = key.startsWith("A") ? "B" : "A";
  for (const id of ["x", `${letter}${key.slice(1)}.1`, `${"A".repeat(32)}.1`, `${key}.-1`]) {
    expect((await comeBack(second, { id, data: "" })).status, id).toBe(410);
  }
  expect(await commands()).toBe(before);
  // A position that the stream never reached waits for events, and gets no earlier one.
  const ahead = await comeBack(second, { id: `${key}.99`, data: "" });
  expect(ahead.status).toBe(200);
  talker.upTo(2);
  await ahead.closed;
  expect(ahead.frames).toEqual([]);
});

test("a gateway that is cut off from Redis counts as gone: its stream ends elsewhere with one signed error, for every client", async () => {
  const talker = createTalker(4);
  const { first, second } = await start(talker);
  talker.upTo(2);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(4);
  await stored(first);
  await first.cutOff();
  began.tear();
  const passed = await comeBack(second, began.frames[1]);
  const other = await comeBack(second, began.frames[2], {});
  await Promise.all([passed.closed, other.closed]);
  expect(typesOf(passed.frames)).toEqual([
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_CONTENT",
    "RUN_ERROR",
  ]);
  expect(passed.isWhole()).toBe(true);
  expect(other.frames).toEqual(passed.frames.slice(1));
  const error = passed.frames.at(-1);
  expect(JSON.parse(error?.data ?? "")).toMatchObject({ code: "GATEWAY_LOST" });
  const [receipt, ...more] = second.recorder.drafts;
  expect(more).toEqual([]);
  expect(receipt).toMatchObject({ run_id: "r1", thread_id: "t1", direction: "outbound" });
  expect(receipt?.receipt).toMatchObject({ agent_id: "support", event_type: "error" });
  const text =
    '{"code":"GATEWAY_LOST","message":"the gateway of the run is gone; the run did not finish","type":"RUN_ERROR"}';
  expect(receipt?.receipt).toMatchObject({ payload_hash: sha256Hex(text) });
  // Its client resumes later once more, after the error and before it.
  const late = await comeBack(second, began.frames.at(-1));
  await late.closed;
  expect(late.frames).toEqual([error]);
  const told = await comeBack(second, error);
  await told.closed;
  expect(told.frames).toEqual([]);
  expect(resultsAt(second)).toContainEqual(["lost", 1]);
}, 30_000);

test("a run that finished before its gateway died is replayed to its end, and is signed for once", async () => {
  const talker = createTalker(2);
  const { first, second } = await start(talker);
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3 });
  await began.closed;
  talker.upTo(2);
  await expect.poll(() => first.gateway.context.sessions.openRuns().length).toBe(0);
  await stored(first);
  await first.cutOff();
  const passed = await comeBack(second, began.frames.at(-1));
  await passed.closed;
  expect(textOf(passed.frames)).toBe("1 ");
  expect(typesOf(passed.frames).at(-1)).toBe("RUN_FINISHED");
  expect(second.recorder.drafts).toEqual([]);
});

test("an EventSource that has the end of its run is told to stop, at every gateway", async () => {
  const talker = createTalker(1);
  const { first, second } = await start(talker);
  talker.upTo(1);
  const url = ({ url: base }: LinkedGateway) => `${base}/ag-ui/stream?session=s1&reconnect=1`;
  const began = await readStream(url(first), { method: "GET" });
  await began.closed;
  const last = began.frames.at(-1)?.id ?? "";
  expect(last).toMatch(/\.over$/u);
  await stored(first);
  const back = await readStream(url(second), {
    method: "GET",
    headers: { "last-event-id": last },
  });
  expect(back.status).toBe(204);
});

test("over HTTP/2 a stream resumes at another gateway", async () => {
  const talker = createTalker(3);
  const { first, second } = await start(talker, { tls: selfSigned() });
  const read = (base: string, lastEventId?: string) => {
    const session = connect(base.replace("http:", "https:"), { rejectUnauthorized: false });
    const stream = session.request({
      ":method": "POST",
      ":path": "/agents/support?reconnect=1",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    });
    let text = "";
    stream.on("error", () => undefined);
    stream.on("data", (bytes: Buffer) => (text += String(bytes)));
    stream.end(JSON.stringify(INPUT));
    const closed = new Promise<void>((resolve) => {
      stream.once("close", () => {
        session.close();
        resolve();
      });
    });
    return { stream, text: () => text, closed };
  };
  talker.upTo(1);
  const began = read(first.url);
  await expect.poll(began.text).toContain('"0 "');
  began.stream.close(8);
  await began.closed;
  const id = [...began.text().matchAll(/^id: (\S+)$/gmu)].at(-1)?.[1];
  const passed = read(second.url, id);
  talker.upTo(3);
  await passed.closed;
  expect(passed.text().match(/"delta":"(\d )"/gu)).toEqual(['"delta":"1 "', '"delta":"2 "']);
  expect(passed.text()).toContain("RUN_FINISHED");
});
