import { expect, test } from "vitest";
import { startRedis, startRedisCluster, startSentinel } from "./redis.js";

test("a crashed server comes back empty, and a stopped one is gone", async () => {
  const server = await startRedis();
  try {
    await server.cli("SET", "key", "value");
    await server.crash();
    await expect(server.cli("PING")).rejects.toThrow();
    await server.start();
    expect(await server.cli("GET", "key")).toBe("");
  } finally {
    await server.stop();
  }
  await expect(server.cli("PING")).rejects.toThrow();
});

test("a Sentinel makes the replica the primary when the primary is gone", async () => {
  const primary = await startRedis();
  const replica = await startRedis({ replicaOf: primary });
  const sentinel = await startSentinel(primary);
  try {
    await expect.poll(() => sentinel.cli("SENTINEL", "replicas", "primary")).toContain("slave");
    await primary.crash();
    await expect.poll(() => replica.cli("ROLE"), { timeout: 20_000 }).toContain("master");
  } finally {
    await Promise.all([sentinel, replica, primary].map((server) => server.stop()));
  }
});

test("a cluster spreads its slots over three nodes", async () => {
  const cluster = await startRedisCluster();
  try {
    const slots = await cluster.nodes[0]?.cli("CLUSTER", "NODES");
    expect(slots?.split("\n").filter((line) => line.includes("connected"))).toHaveLength(3);
  } finally {
    await cluster.stop();
  }
});
