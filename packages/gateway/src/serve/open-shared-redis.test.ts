import { startRedis } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../config/load.js";
import { inspectRedis } from "./open-shared-redis.js";

let server: RunningRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const inspect = (url: string): Promise<string> => {
  const document = {
    agents: { a: { url: "http://h/" } },
    receipts: { store: "postgres://db" },
    cluster: { redis: url, when_down: "degrade" },
  };
  return inspectRedis(loadConfig(JSON.stringify(document), { file: "/c.yaml", environment: {} }));
};

test("a server is named with its version", async () => {
  expect(await inspect(server.url)).toMatch(
    /^(Redis|Valkey) \d+\.\d+\.\d+ responds, kind server, when_down: degrade$/u,
  );
});

test("a server that removes keys is refused", async () => {
  await server.cli("CONFIG", "SET", "maxmemory", "100mb");
  await server.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
  await expect(inspect(server.url)).rejects.toThrow(/removes keys\. Fix: set maxmemory-policy/u);
});

test("a server that is not there is refused, also where a gateway would start without it", async () => {
  await expect(inspect("redis://127.0.0.1:1")).rejects.toMatchObject({
    code: "ERR_REDIS_UNAVAILABLE",
  });
});
