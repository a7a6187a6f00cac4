import { sha256Hex } from "@countersign/core";
import * as fc from "fast-check";
import { connect } from "node:http2";
import { afterEach, expect, test } from "vitest";
import { createAccess } from "../access/access.js";
import type { GatewayOptions } from "../serve/gateway.js";
import { startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";
import { startLinked } from "../testing/linked.js";
import type { Linked } from "../testing/linked.js";
import { selfSigned } from "../testing/self-signed.js";
import { readStream } from "../testing/stream-reader.js";
import type { ReadFrame } from "../testing/stream-reader.js";
import { ask, comeBack, createTalker, INPUT, noticed, textOf, typesOf } from "../testing/talker.js";
import type { Talker } from "../testing/talker.js";

let linked: Linked | undefined;
let identity: Identity | undefined;
const stop = async (): Promise<void> => {
  await linked?.first.stop();
  await linked?.second.stop();
  linked = undefined;
};
afterEach(async () => {
  await stop();
  await identity?.stop();
  identity = undefined;
});

async function start(talker: Talker, gateway: Partial<GatewayOptions> = {}): Promise<Linked> {
  linked = await startLinked(talker.script, gateway);
  return linked;
}

const relaysAt = ({ gateway }: Linked["first"]) => gateway.context.telemetry.relays;
const resultsAt = (fixture: Linked["first"]): unknown[] =>
  [...relaysAt(fixture).results.entries()].map(([result, , count]) => [result, count]);

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
        // The request and each of the 24 events, once: a relayed event is not signed again.
        expect([first.recorder.drafts.length, second.recorder.drafts.length]).toEqual([25, 0]);
        await expect.poll(() => relaysAt(second).open).toBe(0);
        await stop();
      },
    ),
    { numRuns: 15 },
  );
});

test("a client that disconnects from the relay is disconnected from the run, and the last one to resume gets the stream", async () => {
  const talker = createTalker(4);
  const { first, second } = await start(talker);
  talker.upTo(1);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(3);
  const passed = await comeBack(second, began.frames.at(-1));
  await began.closed;
  talker.upTo(2);
  await expect.poll(() => passed.frames.length).toBe(1);
  expect(relaysAt(second).open).toBe(1);
  passed.tear();
  await noticed(first);
  const again = await comeBack(second, passed.frames.at(-1));
  // The client resumes at the first gateway, which closes the relay.
  const home = await comeBack(first, passed.frames.at(-1));
  await again.closed;
  talker.upTo(4);
  await home.closed;
  expect(textOf(home.frames)).toBe("2 3 ");
  await expect.poll(() => relaysAt(second).open).toBe(0);
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

test("an EventSource resumes at another gateway with its ticket, and gets 204 when its run is over", async () => {
  identity = await startIdentity();
  const talker = createTalker(3);
  const { first, second } = await start(talker, {
    access: createAccess([identity.authenticator()]),
  });
  const answer = await fetch(`${first.url}/ag-ui/tickets?session=s1`, {
    method: "POST",
    headers: { authorization: `Bearer ${await identity.token("alice")}` },
  });
  const { url, ticket } = (await answer.json()) as { url: string; ticket: string };
  talker.upTo(1);
  const began = await readStream(`${first.url}${url}&reconnect=1`, { method: "GET", dropAfter: 3 });
  await began.closed;
  const back = (last: ReadFrame | undefined, address = url) =>
    readStream(`${second.url}${address}&reconnect=1`, {
      method: "GET",
      headers: { "last-event-id": last?.id ?? "" },
    });
  const hash = sha256Hex(ticket);
  expect((await back(began.frames.at(-1), url.replace(ticket, hash))).status).toBe(204);
  const passed = await back(began.frames.at(-1));
  talker.upTo(3);
  await passed.closed;
  expect(textOf(passed.frames)).toBe("1 2 ");
  expect((await back(passed.frames.at(-1))).status).toBe(204);
  expect([first.agentRequests.length, second.agentRequests.length]).toEqual([1, 0]);
});

test("a forged stream id causes no relay request and gets the response of a stream that is gone", async () => {
  const talker = createTalker(3);
  const { first, second, sought, firstTag } = await start(talker, {
    listenLimits: { reconnectGraceMs: 50 },
  });
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3 });
  await began.closed;
  await expect.poll(() => talker.hungUp).toEqual(["r1"]);
  const [key = ""] = began.frames[0]?.id?.split(".") ?? [];
  const bodyOf = async (id: string): Promise<unknown> => {
    const answered = await fetch(`${second.url}/agents/support?reconnect=1`, {
      method: "POST",
      headers: { "last-event-id": id },
      body: JSON.stringify(INPUT),
    });
    return [answered.status, await answered.json()];
  };
  const gone = await bodyOf(`${key}.1`);
  expect(gone).toMatchObject([410, { code: "ERR_STREAM_GONE" }]);
  expect(sought).toEqual([firstTag]);
  // The tag of a gateway and random letters.
  const forged = `${key.slice(0, 8)}${"A".repeat(24)}`;
  for (const id of ["", "x", `${forged}.1`, `${"A".repeat(22)}.1`, `${key}.-1`]) {
    expect(await bodyOf(id), id).toEqual(gone);
  }
  expect(sought).toEqual([firstTag]);
});

test("a client over HTTP/2 gets the rest of another gateway's stream, one stream among others", async () => {
  const talker = createTalker(3);
  const { first, second } = await start(talker, { tls: selfSigned() });
  const frames: string[] = [];
  const read = (url: string, lastEventId?: string) => {
    const session = connect(url.replace("http:", "https:"), { rejectUnauthorized: false });
    const stream = session.request({
      ":method": "POST",
      ":path": "/agents/support?reconnect=1",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    });
    stream.on("error", () => undefined);
    stream.on("data", (bytes: Buffer) => void frames.push(String(bytes)));
    stream.end(JSON.stringify(INPUT));
    return { session, closed: new Promise((resolve) => stream.once("close", resolve)) };
  };
  talker.upTo(1);
  const began = read(first.url);
  await expect.poll(() => frames.join("")).toContain('"0 "');
  began.session.destroy();
  const id = [...frames.join("").matchAll(/^id: (\S+)$/gmu)].at(-1)?.[1] as string;
  const passed = read(second.url, id);
  talker.upTo(3);
  await passed.closed;
  passed.session.destroy();
  const text = [...frames.join("").matchAll(/"delta":"(\d+ )"/gu)].map(([, word]) => word);
  expect(text).toEqual(["0 ", "1 ", "2 "]);
});

test("a client that stops reading slows the agent through both gateways, and loses nothing", async () => {
  const talker = createTalker(600, 30_000);
  const { first, second } = await start(talker);
  const began = await ask(first, { dropAfter: 2 });
  await began.closed;
  await noticed(first);
  const back = await comeBack(second, began.frames.at(-1));
  await expect.poll(() => relaysAt(second).open).toBe(1);
  back.pause();
  talker.upTo(600);
  const forwarded = (): number =>
    [...first.gateway.context.sessions.openRuns()][0]?.counters.forwarded ?? 0;
  let before = -1;
  await expect.poll(forwarded, { timeout: 10_000 }).toBeGreaterThan(30);
  await expect
    .poll(() => before === (before = forwarded()), { interval: 300, timeout: 10_000 })
    .toBe(true);
  // 18 million characters do not fit into the buffers between agent and client.
  expect(before).toBeLessThan(600);
  back.resume();
  await back.closed;
  expect(back.frames).toHaveLength(602);
  expect(typesOf(back.frames).at(-1)).toBe("RUN_FINISHED");
}, 120_000);
