import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis, startRedisCluster, startSentinel } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../config/load.js";
import { selfSigned } from "../../testing/self-signed.js";
import { createScript, openRedis } from "./open-redis.js";
import type { RedisConnections } from "./open-redis.js";
import type { RedisOptions } from "./redis-options.js";

const lines: object[] = [];
const note = (facts: object, message: string): void => void lines.push({ ...facts, message });
const journal = { debug: note, info: note, warn: note, error: note };

/** The options of a configuration file: what a test uses is what an operator can write. */
function optionsOf(cluster: object): RedisOptions {
  const document = {
    agents: { a: { url: "http://h/" } },
    receipts: { store: "postgres://db" },
    cluster,
  };
  const { redis } = loadConfig(JSON.stringify(document), { file: "/c.yaml", environment: {} });
  if (redis === undefined) throw new Error("no redis");
  return redis;
}

const opened: { close(): Promise<void> }[] = [];
const stopped: { stop(): Promise<void> }[] = [];
let server: RunningRedis;

async function open(cluster: object, log = "log"): Promise<RedisConnections> {
  const redis = await openRedis({ options: optionsOf(cluster), log, journal, answerMs: 500 });
  opened.push(redis);
  return redis;
}

async function start<Server extends { stop(): Promise<void> }>(
  starting: Promise<Server>,
): Promise<Server> {
  const started = await starting;
  stopped.push(started);
  return started;
}

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
afterEach(async () => {
  await Promise.all(opened.splice(0).map((redis) => redis.close()));
  for (const one of stopped.splice(0).toReversed()) await one.stop();
  lines.length = 0;
});

const PUT = createScript("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])");

test("a script runs by its hash, and again after the server forgot it", async () => {
  const redis = await open({ redis: server.url });
  const key = redis.key("shared", "a");
  expect(await redis.run(PUT, [key], ["1"])).toBe("1");
  await server.cli("SCRIPT", "FLUSH");
  expect(await redis.run(PUT, [key], ["2"])).toBe("2");
  expect(await redis.command("GET", key)).toBe("2");
});

test("bytes come back as they were", async () => {
  const redis = await open({ redis: server.url });
  const bytes = Buffer.from([0, 255, 13, 10, 128]);
  await redis.command("SET", redis.key("stream/1", "b"), bytes);
  expect(await redis.commandBuffer("GET", redis.key("stream/1", "b"))).toEqual(bytes);
  expect(await redis.runBuffer(PUT, [redis.key("stream/1", "c")], [bytes])).toEqual(bytes);
});

test("two logs on one Redis have no key and no signal in common", async () => {
  const [one, other] = [
    await open({ redis: server.url }),
    await open({ redis: server.url }, "other"),
  ];
  expect(one.key("shared", "a")).not.toBe(other.key("shared", "a"));
  const heard: string[] = [];
  const listener = { onSignal: (text: string) => void heard.push(text), onListening: () => {} };
  other.listen("orders", { ...listener, onSignal: (text) => heard.push(`other ${text}`) });
  one.listen("orders", listener);
  one.signal("orders", "1");
  other.signal("orders", "2");
  await expect.poll(() => heard.toSorted()).toEqual(["1", "other 2"]);
});

test("a listener knows when signals may have been lost, and hears the later ones", async () => {
  const own = await start(startRedis());
  const redis = await open({ redis: own.url });
  const heard: string[] = [];
  redis.listen("orders", {
    onSignal: (text) => void heard.push(text),
    onListening: (isListening) => void heard.push(isListening ? "listening" : "deaf"),
  });
  await expect.poll(() => heard).toEqual(["listening"]);
  await own.crash();
  await expect.poll(() => redis.isListening).toBe(false);
  await own.start();
  await expect.poll(() => heard).toEqual(["listening", "deaf", "listening"]);
  await expect.poll(() => redis.isUp).toBe(true);
  redis.signal("orders", "x");
  await expect.poll(() => heard).toEqual(["listening", "deaf", "listening", "x"]);
});

test("a signal that was lost on its way is found by its number within two seconds", async () => {
  const own = await start(startRedis());
  const redis = await open({ redis: own.url });
  let heard = 0;
  redis.listen("orders", { onSignal: () => (heard += 1), onListening: () => {} });
  await expect.poll(() => redis.isListening).toBe(true);
  redis.signal("orders", "1");
  await expect.poll(() => heard).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(heard).toBe(1);
  // Counted, and sent to nobody.
  await redis.command("INCR", redis.key("shared", "signal:orders"));
  await expect.poll(() => heard, { timeout: 2500 }).toBe(2);
});

test("an outage is reported once, commands fail at once, and the connections come back", async () => {
  const own = await start(startRedis());
  const redis = await open({ redis: own.url });
  const changes: boolean[] = [];
  redis.onChange((isUp) => void changes.push(isUp));
  await own.crash();
  await expect.poll(() => redis.isUp).toBe(false);
  const before = performance.now();
  await expect(redis.command("GET", "k")).rejects.toMatchObject({ code: "ERR_REDIS_UNAVAILABLE" });
  expect(performance.now() - before).toBeLessThan(400);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await own.start();
  await expect.poll(() => redis.isUp, { timeout: 5000 }).toBe(true);
  expect(await redis.command("ECHO", "back")).toBe("back");
  expect(changes).toEqual([false, true]);
  expect(lines.map((line) => (line as { message: string }).message)).toEqual([
    "Redis responds",
    "Redis does not respond: /readyz is 503, and events under a short velocity cap are blocked",
    "Redis responds",
  ]);
  expect(redis.figures).toMatchObject({ reconnects: 1 });
});

test("a frozen server fails a command in time, and is down until it is thawed", async () => {
  const own = await start(startRedis());
  const redis = await open({ redis: own.url });
  own.freeze();
  await expect(redis.command("GET", "k")).rejects.toMatchObject({
    facts: { reason: "no response in time" },
  });
  await expect.poll(() => redis.isUp, { timeout: 4000 }).toBe(false);
  await expect.poll(() => redis.isListening, { timeout: 4000 }).toBe(false);
  own.thaw();
  await expect.poll(() => redis.isUp && redis.isListening, { timeout: 5000 }).toBe(true);
});

test("commands without a response are bounded", async () => {
  const own = await start(startRedis());
  const redis = await open({ redis: own.url });
  own.freeze();
  const results = await Promise.allSettled(
    Array.from({ length: 10_100 }, () => redis.command("PING")),
  );
  const reasons = new Set(
    results.map((one) => (one as PromiseRejectedResult).reason.facts.reason as string),
  );
  expect(reasons).toContain("too many commands without a response");
  own.thaw();
});

test("a start without Redis fails under refuse, and goes on under degrade", async () => {
  const own = await start(startRedis());
  await own.crash();
  await expect(open({ redis: own.url })).rejects.toMatchObject({
    code: "ERR_REDIS_UNAVAILABLE",
    facts: { reason: "ECONNREFUSED" },
  });
  const redis = await open({ redis: own.url, when_down: "degrade" });
  expect(redis.isUp).toBe(false);
  await own.start();
  await expect.poll(() => redis.isUp && redis.isListening, { timeout: 5000 }).toBe(true);
});

test("TLS with a certificate on both sides, and a user with few rights", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-redis-tls-"));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const pair = selfSigned("127.0.0.1");
  writeFileSync(cert, pair.cert);
  writeFileSync(key, pair.key);
  const user = {
    name: "gateway",
    password: "p:@/%",
    rules:
      "~countersign:* &countersign:* -@all +evalsha +eval +mget +set +get +info +ping +subscribe +publish +incr",
  };
  const own = await start(startRedis({ tls: { ca: cert, cert, key }, user }));
  const address = `rediss://gateway:${encodeURIComponent(user.password)}@127.0.0.1:${own.port}`;
  const redis = await open({ redis: address, tls: { ca: cert, cert, key } });
  expect(await redis.run(PUT, [redis.key("shared", "a")], ["1"])).toBe("1");
  await expect.poll(() => redis.isListening).toBe(true);
  // The code of Redis and nothing else: no key, no password.
  await expect(redis.command("FLUSHALL")).rejects.toThrow(/command: NOPERM$/u);
  await expect(open({ redis: address, tls: { cert, key } })).rejects.toMatchObject({
    facts: { reason: "DEPTH_ZERO_SELF_SIGNED_CERT" },
  });
  await expect(
    open({ redis: address.replace("gateway:", "gateway:x"), tls: { ca: cert, cert, key } }),
  ).rejects.toMatchObject({ facts: { reason: "WRONGPASS" } });
  rmSync(folder, { recursive: true });
});

test("behind Sentinel, the gateway follows the primary", async () => {
  const primary = await start(startRedis());
  const replica = await start(startRedis({ replicaOf: primary }));
  const sentinel = await start(startSentinel(primary));
  await expect.poll(() => sentinel.cli("SENTINEL", "replicas", "primary")).toContain("slave");
  const redis = await open({
    redis: `redis://127.0.0.1:${sentinel.port}`,
    kind: "sentinel",
    sentinel: { name: "primary" },
    replicas: 1,
  });
  const key = redis.key("shared", "a");
  // A new replica confirms only after its first acknowledgement, up to a second later.
  const put = (): Promise<unknown> =>
    redis.runReplicated(PUT, [key], ["1"]).catch(({ message }: Error) => message);
  await expect.poll(put, { timeout: 5000 }).toBe("1");
  await primary.crash();
  await expect.poll(() => replica.cli("ROLE"), { timeout: 20_000 }).toContain("master");
  await expect.poll(() => redis.isUp && redis.isListening, { timeout: 15_000 }).toBe(true);
  expect(await redis.command("GET", key)).toBe("1");
  // The only replica is the primary now.
  await expect(redis.runReplicated(PUT, [key], ["2"])).rejects.toMatchObject({
    facts: { reason: "too few replicas confirm the write" },
  });
});

test("in a Cluster, keys of one tag are together, and signals reach every gateway", async () => {
  const cluster = await start(startRedisCluster());
  const [one, other] = [
    await open({ redis: cluster.url, kind: "cluster" }),
    await open({ redis: cluster.url, kind: "cluster" }),
  ];
  const both = createScript("redis.call('SET', KEYS[1], 'x') return redis.call('EXISTS', KEYS[2])");
  for (let id = 0; id < 20; id += 1) {
    const tag = `stream/${id}`;
    expect(await one.run(both, [one.key(tag, "a"), one.key(tag, "b")], [])).toBe(0);
    expect(await other.command("GET", one.key(tag, "a"))).toBe("x");
  }
  const heard: string[] = [];
  other.listen("orders", { onSignal: (text) => void heard.push(text), onListening: () => {} });
  await expect.poll(() => other.isListening).toBe(true);
  await expect
    .poll(() => {
      one.signal("orders", "1");
      return heard.length;
    })
    .toBeGreaterThan(0);
});
