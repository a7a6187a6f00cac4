import { startRedis, startRedisCluster, startSentinel, startTornLine } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createAccess } from "../access/access.js";
import type { GatewayOptions } from "../serve/gateway.js";
import type { RedisOptions } from "../store/redis/redis-options.js";
import { startIdentity } from "../testing/identity.js";
import { redisOptionsOf, startLinked, startLinkedGateway } from "../testing/linked.js";
import type { Linked, LinkedGateway } from "../testing/linked.js";
import type { ReadFrame } from "../testing/stream-reader.js";
import { ask, comeBack, createTalker, INPUT, noticed, textOf, typesOf } from "../testing/talker.js";
import type { Talker } from "../testing/talker.js";

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

async function start(
  talker: Talker,
  gateway: Partial<GatewayOptions> = {},
  own: RunningRedis = server,
  changes: Partial<RedisOptions> = {},
): Promise<Linked> {
  const linked = await startLinked(talker.script, gateway, own, changes);
  ends.push(() => linked.stop());
  return linked;
}

function stored({ gateway }: LinkedGateway): Promise<void> {
  return expect.poll(() => gateway.context.telemetry.sharedStreams.incomplete, WAIT).toBe(0);
}
const codeAt = async ({ url }: LinkedGateway, last?: ReadFrame) => {
  const answer = await fetch(`${url}/agents/support?reconnect=1`, {
    method: "POST",
    ...(last === undefined ? {} : { headers: { "last-event-id": last.id ?? "" } }),
    body: JSON.stringify({ ...INPUT, runId: "r9" }),
  });
  const { code } = (await answer.json()) as { code: string };
  return [answer.status, code];
};

type Entry = { id: string; first: string; sealed: Buffer };

/** The copy of a stream, for whoever may write to Redis. */
function copyOf({ redis }: LinkedGateway, frame: ReadFrame | undefined) {
  const key = frame?.id?.split(".")[0] ?? "";
  const events = redis.key(`stream/${key}`, "events");
  const facts = redis.key(`stream/${key}`, "facts");
  return {
    events,
    facts,
    read: async (): Promise<Entry[]> => {
      const raw = (await redis.commandBuffer("XRANGE", events, "-", "+")) as [Buffer, Buffer[]][];
      return raw.map(([id, [, first, , sealed]]) => ({
        id: String(id),
        first: String(first),
        sealed: sealed as Buffer,
      }));
    },
    write: async (entries: readonly Entry[]): Promise<void> => {
      await redis.command("DEL", events);
      for (const { id, first, sealed } of entries) {
        await redis.command("XADD", events, id, "first", first, "sealed", sealed);
      }
    },
  };
}

/** Each event in an entry of its own, and a client that has the first. */
async function startStored(words: number, finished = true) {
  const talker = createTalker(words);
  const linked = await start(talker);
  const { first } = linked;
  const began = await ask(first);
  for (let word = 1; word < words + (finished ? 1 : 0); word += 1) {
    talker.upTo(word);
    await expect.poll(() => textOf(began.frames)).toContain(`${word - 1} `);
    await stored(first);
  }
  if (finished) await began.closed;
  await stored(first);
  return { ...linked, began, copy: copyOf(linked.second, began.frames[0]) };
}

const replaced = (entries: Entry[], at: number, change: Partial<Entry>): Entry[] =>
  entries.map((entry, index) => (index === at ? { ...entry, ...change } : entry));

const CHANGES: readonly (readonly [string, (entries: Entry[], foreign: Entry[]) => Entry[]])[] = [
  [
    "changed bytes",
    (entries) => {
      const sealed = Buffer.from((entries[2] as Entry).sealed);
      sealed[14] = (sealed[14] as number) ^ 1;
      return replaced(entries, 2, { sealed });
    },
  ],
  [
    "two swapped entries",
    (entries) => {
      const [one, other] = [entries[2] as Entry, entries[3] as Entry];
      return replaced(replaced(entries, 2, { sealed: other.sealed }), 3, { sealed: one.sealed });
    },
  ],
  [
    "an entry of another stream",
    (entries, foreign) => replaced(entries, 2, { sealed: (foreign[2] as Entry).sealed }),
  ],
  [
    "an earlier entry again",
    (entries) => replaced(entries, 3, { sealed: (entries[2] as Entry).sealed }),
  ],
  ["a missing entry", (entries) => entries.filter((_, index) => index !== 2)],
  ["another number", (entries) => replaced(entries, 2, { first: "1" })],
  [
    "an end that no gateway wrote",
    (entries) => [
      ...entries.slice(0, 3),
      { ...(entries.at(-1) as Entry), first: (entries[3] as Entry).first },
    ],
  ],
  ["an entry that is cut short", (entries) => replaced(entries, 2, { sealed: Buffer.alloc(20) })],
];

test.each(CHANGES)(
  "%s in Redis: the client gets what came before, and nothing else",
  async (_, change) => {
    const other = await startStored(6);
    const foreign = await other.copy.read();
    const { second, began, copy } = await startStored(6);
    const entries = await copy.read();
    expect(entries.length).toBeGreaterThan(5);
    await copy.write(change(entries, foreign));
    const back = await comeBack(second, {
      id: `${began.frames[0]?.id?.split(".")[0]}.0`,
      data: "",
    });
    await back.closed;
    expect(back.status === 410 || !back.isWhole()).toBe(true);
    expect(back.frames.length).toBeLessThan(began.frames.length);
    expect(back.frames).toEqual(began.frames.slice(0, back.frames.length));
    expect([...second.gateway.context.telemetry.sharedStreams.results.entries()]).toContainEqual([
      "refused",
      "",
      1,
    ]);
  },
);

test("the end of a finished run removed from Redis: once its gateway is gone, the run ends with an error", async () => {
  const { first, second, began, copy } = await startStored(3);
  await first.cutOff();
  const entries = await copy.read();
  // How many events an entry has depends on the time: the last two are the end of the stream and the events before it.
  await copy.write(entries.slice(0, -2));
  const back = await comeBack(second, { id: `${began.frames[0]?.id?.split(".")[0]}.0`, data: "" });
  await back.closed;
  const kept = back.frames.slice(0, -1);
  expect(kept).toEqual(began.frames.slice(0, kept.length));
  expect(JSON.parse(back.frames.at(-1)?.data ?? "")).toMatchObject({ code: "GATEWAY_LOST" });
  expect(typesOf(back.frames)).not.toContain("RUN_FINISHED");
}, 30_000);

test("the holder of a stream cannot be replaced in Redis", async () => {
  const identity = await startIdentity();
  ends.push(() => identity.stop());
  const talker = createTalker(2);
  const { first, second } = await start(talker, {
    access: createAccess([identity.authenticator()]),
  });
  const headers = async (name: string) => ({
    authorization: `Bearer ${await identity.token(name)}`,
  });
  talker.upTo(1);
  const begin = async (name: string, runId: string) => {
    const body = { ...INPUT, runId, threadId: runId };
    const reader = await ask(first, { dropAfter: 3, headers: await headers(name), body });
    await reader.closed;
    return reader.frames.at(-1);
  };
  const [alices, bobs] = [await begin("alice", "a"), await begin("bob", "b")];
  await stored(first);
  const { redis } = second;
  const [from, to] = [copyOf(second, bobs).facts, copyOf(second, alices).facts];
  await redis.command("SET", to, (await redis.commandBuffer("GET", from)) as Buffer);
  expect((await comeBack(second, alices, { headers: await headers("bob") })).status).toBe(410);
  expect((await comeBack(second, alices, { headers: await headers("alice") })).status).toBe(410);
  expect((await comeBack(second, bobs, { headers: await headers("alice") })).status).toBe(410);
});

test("Redis has no word of a stream in clear text", async () => {
  const own = await startRedis();
  ends.push(() => own.stop());
  const talker = createTalker(3);
  const { first } = await start(talker, {}, own);
  talker.upTo(3);
  const reader = await ask(first);
  await reader.closed;
  await stored(first);
  for (const key of (await own.cli("KEYS", "*")).split("\n")) {
    expect(key).not.toMatch(/anonymous|support|r1|t1/u);
    const value = await own.cli("DUMP", key);
    expect(value).not.toMatch(/TEXT_MESSAGE|anonymous|support|RUN_/u);
  }
});

test("while its client is away a stream keeps to its bound in Redis, and its agent waits; then all of it goes to another gateway", async () => {
  const talker = createTalker(800, 2000);
  const { first, second } = await start(talker, { listenLimits: { reconnectBytes: 65_536 } });
  const began = await ask(first, { dropAfter: 2 });
  await began.closed;
  await noticed(first);
  talker.upTo(800);
  const forwarded = (): number =>
    [...first.gateway.context.sessions.openRuns()][0]?.counters.forwarded ?? 0;
  await expect.poll(forwarded).toBeGreaterThan(30);
  let before = -1;
  await expect.poll(() => before === (before = forwarded()), { interval: 200 }).toBe(true);
  expect(before).toBeLessThan(800);
  await stored(first);
  const { events } = copyOf(second, began.frames[0]);
  const size = async () =>
    Number(await second.redis.command("MEMORY", "USAGE", events, "SAMPLES", 0));
  expect(await size()).toBeLessThan(400_000);
  const back = await comeBack(second, began.frames.at(-1));
  let largest = 0;
  const watch = setInterval(
    () => void size().then((now) => (largest = Math.max(largest, now))),
    20,
  );
  await back.closed;
  clearInterval(watch);
  expect(back.frames).toHaveLength(802);
  expect(typesOf(back.frames).at(-1)).toBe("RUN_FINISHED");
  expect(largest).toBeLessThan(400_000);
}, 30_000);

test("a copy leaves Redis with its stream, and by itself after the time if its gateway is gone", async () => {
  const talker = createTalker(2);
  const { first, second } = await start(talker, { listenLimits: { reconnectGraceMs: 300 } });
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3 });
  await began.closed;
  await stored(first);
  const { events, facts } = copyOf(second, began.frames[0]);
  for (const key of [events, facts]) {
    const left = Number(await second.redis.command("PTTL", key));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(15_300);
  }
  await expect.poll(() => second.redis.command("EXISTS", events, facts), WAIT).toBe(0);
  expect((await comeBack(second, began.frames.at(-1))).status).toBe(410);
  expect(talker.hungUp).toEqual(["r1"]);
});

test("streams of other gateways have a limit", async () => {
  const talker = createTalker(3);
  const { first, second } = await start(talker, { listenLimits: { followedStreams: 1 } });
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3 });
  await began.closed;
  const passed = await comeBack(second, began.frames.at(-1));
  expect(await codeAt(second, began.frames.at(-1))).toEqual([503, "ERR_STREAM_LIMIT"]);
  passed.tear();
  const { sharedStreams } = second.gateway.context.telemetry;
  await expect.poll(() => sharedStreams.followed).toBe(0);
  const again = await comeBack(second, began.frames.at(-1));
  expect(again.status).toBe(200);
  again.tear();
});

test.each(["first", "second"] as const)(
  "a viewer at the %s gateway that does not read is cut off, and the run does not wait for it",
  async (where) => {
    const talker = createTalker(3000, 4000);
    const linked = await start(talker, { listenLimits: { reconnectBytes: 65_536 } });
    talker.upTo(1);
    const main = await ask(linked.first);
    await expect.poll(() => main.frames.length).toBe(3);
    const viewer = await comeBack(linked[where], main.frames[0], {}, "&view=1");
    await expect.poll(() => viewer.frames.length).toBeGreaterThan(0);
    viewer.pause();
    talker.upTo(3000);
    await main.closed;
    expect(main.frames).toHaveLength(3004);
    viewer.resume();
    await viewer.closed;
    expect(viewer.isWhole()).toBe(false);
    const from = viewer.frames[0]?.id;
    const at = main.frames.findIndex(({ id }) => id === from);
    expect(viewer.frames).toEqual(main.frames.slice(at, at + viewer.frames.length));
  },
  30_000,
);

test("a stream has at most eight viewers", async () => {
  const talker = createTalker(2);
  const { first } = await start(talker);
  talker.upTo(1);
  const main = await ask(first);
  await expect.poll(() => main.frames.length).toBe(3);
  const views = [];
  for (let count = 0; count < 9; count += 1) {
    views.push(await comeBack(first, main.frames[0], {}, "&view=1"));
  }
  expect(views.map(({ status }) => status)).toEqual([...Array.from({ length: 8 }, () => 200), 410]);
  talker.upTo(2);
  await Promise.all(views.map(({ closed }) => closed));
  for (const { frames } of views.slice(0, 8)) expect(textOf(frames)).toBe("0 1 ");
});

test("while Redis is down an open stream continues, no new one begins, and one resumes elsewhere once Redis is back without its data", async () => {
  const own = await startRedis();
  ends.push(() => own.stop());
  const talker = createTalker(4);
  const { first, second } = await start(talker, {}, own);
  talker.upTo(1);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(3);
  await own.crash();
  await expect.poll(() => first.redis.isUp, WAIT).toBe(false);
  talker.upTo(2);
  await expect.poll(() => textOf(began.frames)).toBe("0 1 ");
  expect(first.gateway.context.telemetry.sharedStreams.incomplete).toBe(1);
  expect(await codeAt(first)).toEqual([503, "ERR_STREAM_UNREACHABLE"]);
  await expect.poll(() => second.redis.isUp, WAIT).toBe(false);
  expect(await codeAt(second, began.frames[0])).toEqual([503, "ERR_STREAM_UNREACHABLE"]);
  await own.start();
  await stored(first);
  const back = await comeBack(second, began.frames[1]);
  await began.closed;
  talker.upTo(4);
  await back.closed;
  expect(textOf(back.frames)).toBe("0 1 2 3 ");
  expect(typesOf(back.frames).at(-1)).toBe("RUN_FINISHED");
  // Redis lost the leases too: the gateway counts as alive.
  expect(second.recorder.drafts).toEqual([]);
}, 30_000);

test("with when_down: degrade a stream that begins without Redis resumes at its own gateway, and elsewhere once Redis is back", async () => {
  const own = await startRedis();
  ends.push(() => own.stop());
  const talker = createTalker(4);
  const { first, second } = await start(talker, {}, own, { whenDown: "degrade" });
  await own.crash();
  await expect.poll(() => first.redis.isUp || second.redis.isUp, WAIT).toBe(false);
  talker.upTo(1);
  const began = await ask(first, { dropAfter: 3 });
  expect(began.status).toBe(200);
  await began.closed;
  const last = began.frames.at(-1);
  expect((await comeBack(second, last)).status).toBe(503);
  const home = await comeBack(first, last, { dropAfter: 1 });
  talker.upTo(2);
  await home.closed;
  await own.start();
  await stored(first);
  await expect.poll(() => second.redis.isUp, WAIT).toBe(true);
  const back = await comeBack(second, home.frames.at(-1));
  talker.upTo(4);
  await back.closed;
  expect(textOf([...home.frames, ...back.frames])).toBe("1 2 3 ");
}, 30_000);

test("a line to Redis that tears and freezes delays no event, and loses none for a client that resumes elsewhere", async () => {
  const line = await startTornLine(server.port);
  ends.push(() => line.stop());
  const behind = { host: "127.0.0.1", port: Number(new URL(line.url).port) };
  const talker = createTalker(60);
  const names = ["first", "second"] as const;
  const gateways: LinkedGateway[] = [];
  for (const name of names) {
    const options = redisOptionsOf(name === "first" ? behind : server);
    const gateway = await startLinkedGateway(name, talker.script, options, {}, "torn");
    gateways.push(gateway);
    ends.push(() => gateway.stop());
  }
  const [first, second] = gateways as [LinkedGateway, LinkedGateway];
  const began = await ask(first);
  for (let word = 1; word <= 50; word += 1) {
    talker.upTo(word);
    if (word % 10 === 0) line.tear();
    await expect.poll(() => textOf(began.frames), { interval: 2 }).toContain(`${word - 1} `);
  }
  line.freeze();
  talker.upTo(55);
  await expect.poll(() => textOf(began.frames)).toContain("54 ");
  line.tear();
  await stored(first);
  began.tear();
  const back = await comeBack(second, began.frames[10]);
  talker.upTo(60);
  await back.closed;
  expect([...began.frames.slice(0, 11), ...back.frames]).toHaveLength(64);
  expect(textOf([...began.frames.slice(0, 11), ...back.frames])).toBe(
    Array.from({ length: 60 }, (_, word) => `${word} `).join(""),
  );
}, 60_000);

test("an event that Redis lost is written again with the next one", async () => {
  const talker = createTalker(6);
  const { first, second } = await start(talker);
  const began = await ask(first);
  for (let word = 1; word <= 3; word += 1) {
    talker.upTo(word);
    await expect.poll(() => textOf(began.frames)).toContain(`${word - 1} `);
    await stored(first);
  }
  const copy = copyOf(second, began.frames[0]);
  const { id } = (await copy.read()).at(-1) as Entry;
  await second.redis.command("XDEL", copy.events, id);
  talker.upTo(4);
  await expect.poll(() => textOf(began.frames)).toContain("3 ");
  await stored(first);
  began.tear();
  const back = await comeBack(second, began.frames[1]);
  talker.upTo(6);
  await back.closed;
  expect(textOf(back.frames)).toBe("0 1 2 3 4 5 ");
});

test("after a failover of Redis a stream resumes elsewhere with every event", async () => {
  const primary = await startRedis();
  ends.push(() => primary.stop());
  const replica = await startRedis({ replicaOf: primary });
  ends.push(() => replica.stop());
  const sentinel = await startSentinel(primary);
  ends.push(() => sentinel.stop());
  await expect.poll(() => sentinel.cli("SENTINEL", "REPLICAS", "primary"), WAIT).toContain("slave");
  const talker = createTalker(40);
  const { first, second } = await start(talker, {}, sentinel, {
    kind: "sentinel",
    sentinel: { name: "primary" },
  });
  talker.upTo(10);
  const began = await ask(first);
  await expect.poll(() => began.frames.length).toBe(12);
  await primary.crash();
  talker.upTo(20);
  await expect.poll(() => began.frames.length).toBe(22);
  await expect.poll(() => first.redis.isUp && second.redis.isUp, { timeout: 30_000 }).toBe(true);
  talker.upTo(25);
  await stored(first);
  began.tear();
  const back = await comeBack(second, began.frames[4]);
  talker.upTo(40);
  await back.closed;
  const all = [...began.frames.slice(0, 5), ...back.frames];
  expect(all).toHaveLength(44);
  expect(typesOf(all).at(-1)).toBe("RUN_FINISHED");
  expect(second.recorder.drafts).toEqual([]);
}, 90_000);

test("on a Redis Cluster streams resume at another gateway, whichever node has them", async () => {
  const cluster = await startRedisCluster();
  ends.push(() => cluster.stop());
  const talker = createTalker(4);
  const addresses = cluster.nodes.map(({ host, port }) => ({ host, port }));
  const { first, second } = await start(talker, {}, cluster.nodes[0], {
    kind: "cluster",
    addresses,
  });
  for (let count = 0; count < 6; count += 1) {
    talker.upTo(1);
    const ids = { threadId: `t${count}`, runId: `r${count}` };
    const began = await ask(first, { dropAfter: 3, body: { ...INPUT, ...ids } });
    await began.closed;
    const back = await comeBack(second, began.frames.at(-1));
    expect(back.status).toBe(200);
    talker.upTo(4);
    await back.closed;
    expect(textOf(back.frames)).toBe("1 2 3 ");
    expect(typesOf(back.frames).at(-1)).toBe("RUN_FINISHED");
  }
}, 60_000);
