import { startRedis } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { GatewayOptions } from "../serve/gateway.js";
import { startLinked } from "../testing/linked.js";
import type { Linked, LinkedGateway } from "../testing/linked.js";
import type { ReadFrame } from "../testing/stream-reader.js";
import { ask, comeBack, createTalker, noticed, textOf, typesOf } from "../testing/talker.js";
import type { Talker } from "../testing/talker.js";
import { keysOf } from "./stream-names.js";
import { CLAIM, END_ID, FINISH, RELEASE } from "./stream-scripts.js";

const WAIT = { timeout: 15_000, interval: 20 };

let server: RunningRedis;
let ends: (() => unknown)[] = [];
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
});

async function start(talker: Talker, gateway: Partial<GatewayOptions> = {}): Promise<Linked> {
  const linked = await startLinked(talker.script, gateway, server);
  ends.push(() => linked.stop());
  return linked;
}

function stored({ gateway }: LinkedGateway): Promise<void> {
  return expect.poll(() => gateway.context.telemetry.sharedStreams.incomplete, WAIT).toBe(0);
}

const keyOf = (frame: ReadFrame | undefined): string => frame?.id?.split(".")[0] ?? "";
const placeOf = (frame: ReadFrame | undefined, after: number): ReadFrame => ({
  id: `${keyOf(frame)}.${after}`,
  data: "",
});

test("events removed before the end of a stream: its client is not told that it has everything", async () => {
  const talker = createTalker(6);
  const { first, second } = await start(talker);
  const began = await ask(first);
  for (let word = 1; word <= 6; word += 1) {
    talker.upTo(word);
    await expect.poll(() => textOf(began.frames)).toContain(`${word - 1} `);
    await stored(first);
  }
  await began.closed;
  await stored(first);
  await first.cutOff();
  const [events] = keysOf(second.redis, keyOf(began.frames[0]));
  const ids = ((await second.redis.command("XRANGE", events, "-", "+")) as [string][]).map(
    ([id]) => id,
  );
  await second.redis.command("XDEL", events, ...ids.slice(3, -1));
  const kept = Number(ids[2]?.split("-")[0]);
  const back = await comeBack(second, placeOf(began.frames[0], 0));
  await back.closed;
  expect(back.frames).toEqual(began.frames.slice(0, kept));
  expect(back.isWhole()).toBe(false);
  expect((await comeBack(second, placeOf(began.frames[0], kept))).status).toBe(410);
});

test("a gateway that another one looked at too early keeps its copies", async () => {
  const talker = createTalker(4);
  const { first, second } = await start(talker);
  talker.upTo(1);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(3);
  await stored(first);
  const keys = keysOf(second.redis, keyOf(began.frames[0]));
  expect(await second.redis.run(CLAIM, keys, ["claim", 10_000, END_ID])).toBe("ok");
  talker.upTo(2);
  await expect.poll(() => began.frames.length).toBe(4);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await second.redis.run(RELEASE, [keys[2]], ["claim"]);
  began.tear();
  await noticed(first);
  talker.upTo(4);
  const back = await comeBack(second, began.frames[1]);
  await back.closed;
  expect(textOf(back.frames)).toBe("0 1 2 3 ");
  expect(typesOf(back.frames).at(-1)).toBe("RUN_FINISHED");
}, 30_000);

test("a gateway that was taken for dead ends its run too: nothing follows the error that the client has", async () => {
  const talker = createTalker(6);
  const { first, second } = await start(talker);
  talker.upTo(2);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(4);
  await stored(first);
  const keys = keysOf(second.redis, keyOf(began.frames[0]));
  // The lease of a frozen gateway runs out, here by force.
  const lease = second.redis.key("gateway/first", "lease");
  const frozen = setInterval(() => void second.redis.command("DEL", lease), 1);
  const back = await comeBack(second, began.frames[1], {}, "&view=1");
  await back.closed;
  clearInterval(frozen);
  const error = back.frames.at(-1);
  expect(JSON.parse(error?.data ?? "")).toMatchObject({ code: "GATEWAY_LOST" });
  expect(await second.redis.command("EXISTS", keys[2])).toBe(1);
  talker.upTo(4);
  await began.closed;
  expect(talker.hungUp).toEqual(["r1"]);
  expect(typesOf(began.frames)).not.toContain("RUN_FINISHED");
  for (const gateway of [first, second]) {
    const told = await comeBack(gateway, error);
    await told.closed;
    expect(told.frames).toEqual([]);
    const late = await comeBack(gateway, began.frames.at(-1));
    await late.closed;
    expect(late.frames).toEqual([error]);
  }
}, 30_000);

test("an error that Redis does not accept at first is signed for once, however many clients wait for it", async () => {
  const talker = createTalker(4);
  const { first, second } = await start(talker);
  talker.upTo(2);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(4);
  await stored(first);
  began.tear();
  await first.cutOff();
  const [, , taken] = keysOf(second.redis, keyOf(began.frames[0]));
  const { run } = second.redis;
  let failures = 0;
  // Redis loses the claim, and with it the end.
  Object.assign(second.redis, {
    run: async (...call: Parameters<typeof run>) => {
      if (call[0] === FINISH && failures < 3) {
        failures += 1;
        await second.redis.command("DEL", taken);
      }
      return run(...call);
    },
  });
  const readers = await Promise.all(began.frames.map((frame) => comeBack(second, frame)));
  await Promise.all(readers.map(({ closed }) => closed));
  expect(failures).toBe(3);
  for (const { frames } of readers) expect(typesOf(frames).at(-1)).toBe("RUN_ERROR");
  expect(second.recorder.drafts).toHaveLength(1);
  const { results } = second.gateway.context.telemetry.sharedStreams;
  expect([...results.entries()]).toContainEqual(["lost", "", 1]);
}, 30_000);

test("a repeated signal takes no stream from its client", async () => {
  const talker = createTalker(4);
  const { first, second } = await start(talker);
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3 });
  await began.closed;
  const channel = "countersign:*:signal:streams/first";
  const heard: [string, string][] = [];
  const listener = await listenAll(server, channel, (...one) => heard.push(one));
  const passed = await comeBack(second, began.frames.at(-1));
  await expect.poll(() => heard.length, WAIT).toBeGreaterThan(0);
  await noticedRemote(first);
  passed.tear();
  await expect.poll(() => heard.length, WAIT).toBeGreaterThan(1);
  const home = await comeBack(first, began.frames.at(-1));
  await new Promise((resolve) => setTimeout(resolve, 200));
  listener.disconnect();
  for (const [name, text] of heard) await second.redis.command("PUBLISH", name, text);
  await new Promise((resolve) => setTimeout(resolve, 300));
  talker.upTo(4);
  await home.closed;
  expect(textOf(home.frames)).toBe("1 2 3 ");
  expect(typesOf(home.frames).at(-1)).toBe("RUN_FINISHED");
}, 30_000);

test("a client that reads slowly at another gateway gets the whole stream, long after the run has ended", async () => {
  const talker = createTalker(400, 20_000);
  const { first, second } = await start(talker, {
    listenLimits: { reconnectGraceMs: 500, reconnectBytes: 16_000_000 },
  });
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3 });
  await began.closed;
  const passed = await comeBack(second, began.frames.at(-1));
  await noticedRemote(first);
  passed.pause();
  const warnings: string[] = [];
  const warned = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", warned);
  ends.push(() => process.off("warning", warned));
  for (let word = 1; word <= 400; word += 5) {
    talker.upTo(word);
    await stored(first);
  }
  talker.upTo(400);
  await expect.poll(() => first.gateway.context.sessions.openRuns().length, WAIT).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  passed.resume();
  await passed.closed;
  expect(typesOf(passed.frames).at(-1)).toBe("RUN_FINISHED");
  expect(passed.frames).toHaveLength(401);
  // Each piece of news would otherwise wait for the connection once more.
  expect(warnings.filter((text) => text.includes("added to [Socket]"))).toEqual([]);
}, 30_000);

function noticedRemote({ gateway }: LinkedGateway): Promise<void> {
  const { openRuns } = gateway.context.telemetry;
  return expect.poll(() => [...openRuns].every(({ sink }) => !sink.isDisconnected)).toBe(true);
}

async function listenAll(
  { host, port }: RunningRedis,
  pattern: string,
  take: (name: string, text: string) => void,
) {
  const client = new Redis({ host, port });
  await client.psubscribe(pattern);
  client.on("pmessage", (_pattern: string, name: string, text: string) => take(name, text));
  return client;
}
