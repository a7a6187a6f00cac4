import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres, startRedis } from "@countersign/testkit";
import type { RunningPostgres, RunningRedis } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

// deploy/compose with --scale gateway=4, as processes: the same proxy, agent, configuration and policy.
const root = fileURLToPath(new URL("../../../../", import.meta.url));
const deploy = join(root, "deploy");
const command = join(root, "apps/cli/bin/countersign.js");
const GATEWAYS = 4;

function hasProxy(): boolean {
  const isThere = (): boolean => spawnSync("haproxy", ["-v"]).status === 0;
  if (isThere()) return true;
  if (process.getuid?.() !== 0) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["install", "-y", "-q", "haproxy"], { env, timeout: 120_000 });
  return isThere();
}

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

const folder = mkdtempSync(join(tmpdir(), "countersign-scaled-"));
const children = new Set<ChildProcess>();
let isOver = false;
let database: RunningPostgres;
let redis: RunningRedis;
let url: string;
const gateways: { child?: ChildProcess; starts: number }[] = [];

function start(file: string, args: string[], env: NodeJS.ProcessEnv = {}, cwd = folder) {
  const output = openSync(join(folder, "output.txt"), "a");
  const stdio = ["ignore", output, output] as const;
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: [...stdio] });
  closeSync(output);
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** Starts a gateway, and again when it ends with an error: `restart: unless-stopped`. */
function keepGateway(index: number): void {
  const own = (gateways[index] ??= { starts: 0 });
  const cwd = join(folder, `gateway-${index}`);
  own.starts += 1;
  own.child = start(
    process.execPath,
    [command, "serve", "--config", join(cwd, "countersign.yaml")],
    {
      COUNTERSIGN_STORE: database.url,
      COUNTERSIGN_REDIS: redis.url,
    },
  );
  own.child.once("exit", () => {
    if (!isOver) setTimeout(() => !isOver && keepGateway(index), 300);
  });
}

beforeAll(async () => {
  if (!hasProxy()) throw new Error("haproxy is missing. Fix: apt-get install haproxy");
  if (!existsSync(join(root, "apps/cli/dist/main.js"))) {
    throw new Error("the command is not built. Fix: npm run build");
  }
  [database, redis] = await Promise.all([startPostgres(), startRedis()]);
  const [agentPort, proxyPort] = [await freePort(), await freePort()];
  start(process.execPath, [join(deploy, "compose/agent/main.mjs")], { PORT: String(agentPort) });
  const written = readFileSync(join(deploy, "compose/etc/countersign.yaml"), "utf8");
  const servers: string[] = [];
  for (let index = 0; index < GATEWAYS; index += 1) {
    const port = await freePort();
    const text = written
      .replaceAll("0.0.0.0", "127.0.0.1")
      .replaceAll(/port: (?!8080)\d+/gu, "port: 0")
      .replace("port: 8080", `port: ${port}`)
      .replace("http://agent:8000/", `http://127.0.0.1:${agentPort}/`)
      .replace("/etc/countersign-policy/", join(deploy, "helm/countersign/files/"))
      .replace("/var/lib/countersign", folder);
    mkdirSync(join(folder, `gateway-${index}`));
    writeFileSync(join(folder, `gateway-${index}`, "countersign.yaml"), text);
    servers.push(`  server g${index} 127.0.0.1:${port} check inter 1s fall 2 rise 1`);
  }
  const proxy = readFileSync(join(deploy, "compose/proxy/haproxy.cfg"), "utf8")
    .replace("bind :8080", `bind 127.0.0.1:${proxyPort}`)
    .replace(/^ {2}server-template .*$/mu, servers.join("\n"))
    .replace("balance leastconn", "$&\n  http-response set-header x-gateway %s");
  writeFileSync(join(folder, "haproxy.cfg"), proxy);
  // At the same moment, on an empty volume of keys and an empty database.
  for (let index = 0; index < GATEWAYS; index += 1) keepGateway(index);
  start("haproxy", ["-f", join(folder, "haproxy.cfg"), "-db"]);
  url = `http://127.0.0.1:${proxyPort}/agents/support`;
}, 60_000);

afterAll(async () => {
  isOver = true;
  const ended = [...children].map((child) => new Promise((done) => child.once("exit", done)));
  for (const child of children) child.kill();
  await Promise.all(ended);
  await Promise.all([database.stop(), redis.stop()]);
  rmSync(folder, { recursive: true });
}, 30_000);

let asked = 0;
/** One run: the gateway that it went to, and whether it is whole. */
async function ask(): Promise<{ gateway: string; isWhole: boolean }> {
  asked += 1;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({
        threadId: `t${asked}`,
        runId: `r${asked}`,
        messages: [],
        tools: [],
        context: [],
        state: {},
      }),
    });
    const text = await response.text();
    return {
      gateway: response.headers.get("x-gateway") ?? "",
      isWhole: response.status === 200 && text.includes("RUN_FINISHED"),
    };
  } catch {
    return { gateway: "", isWhole: false };
  }
}

const askMany = (count: number) => Promise.all(Array.from({ length: count }, ask));

test("four gateways that start together share keys and log behind the proxy; one that is killed is not missed", async () => {
  const seen = new Set<string>();
  await expect
    .poll(
      async () => {
        for (const { gateway, isWhole } of await askMany(8)) if (isWhole) seen.add(gateway);
        return seen.size;
      },
      { timeout: 60_000, interval: 300 },
    )
    .toBe(GATEWAYS);
  // A gateway that met another one making the keys was started again; none needed it often.
  expect(Math.max(...gateways.map(({ starts }) => starts))).toBeLessThan(6);

  const victim = gateways[1]?.child as ChildProcess;
  const killed = new Promise((done) => victim.once("exit", done));
  victim.kill("SIGKILL");
  await killed;
  const runs = (await Promise.all([askMany(10), askMany(10)])).flat();
  expect(runs.filter(({ isWhole }) => !isWhole)).toEqual([]);
  // It comes back by itself.
  seen.clear();
  await expect
    .poll(
      async () => {
        for (const { gateway } of await askMany(8)) seen.add(gateway);
        return seen.size;
      },
      { timeout: 30_000, interval: 300 },
    )
    .toBe(GATEWAYS);

  const cwd = join(folder, "gateway-0");
  const verified = spawnSync(process.execPath, [command, "receipts", "verify"], {
    cwd,
    encoding: "utf8",
    env: {
      ...process.env,
      NO_COLOR: "1",
      COUNTERSIGN_STORE: database.url,
      COUNTERSIGN_REDIS: redis.url,
    },
  });
  expect(verified.status, verified.stdout + verified.stderr).toBe(0);
}, 150_000);
