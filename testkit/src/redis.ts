import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A Redis server (or Sentinel) that lives as long as a test. */
export type RunningRedis = {
  readonly host: string;
  /** The TLS port of a server that was started with certificates. */
  readonly port: number;
  readonly url: string;
  /** Sends a command with the rights of an administrator; resolves with what `redis-cli` prints. */
  cli(...command: string[]): Promise<string>;
  /** Ends the process at once, as a power cut would. `start` brings it back, without data unless it was saved. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Stops the process: connections stay open without a response. `thaw` resumes it. */
  freeze(): void;
  thaw(): void;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
};

/** Paths of certificates in PEM. */
export type RedisTls = { readonly ca: string; readonly cert: string; readonly key: string };

/** Options of {@link startRedis}. */
export type RedisOptions = {
  /** Lines of `redis.conf`, such as `appendonly yes`. */
  readonly settings?: readonly string[];
  /** A user with a password and rules, such as `~countersign:* +get`; the default user is switched off. */
  readonly user?: { readonly name: string; readonly password: string; readonly rules: string };
  readonly tls?: RedisTls;
  readonly replicaOf?: RunningRedis;
};

/** The administrator of a server whose default user is switched off. */
const ADMIN = { name: "testkit", password: "testkit-administrator" };

const MISSING = "redis-server is missing. Fix: apt-get install redis-server";

/** The path of a program of Redis or Valkey; `undefined` when this machine has none. */
function find(...names: string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(":");
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

async function freePort(): Promise<number> {
  // A node of a cluster also takes the port 10,000 above its own.
  for (;;) {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const address = server.address();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    if (address === null || typeof address === "string") throw new Error("no free port");
    if (address.port < 55_000) return address.port;
  }
}

type Process = Pick<RunningRedis, "crash" | "start" | "freeze" | "thaw" | "stop">;

/** Runs a program in the foreground until it is stopped; `isUp` tells when it serves. */
async function runProcess(
  program: string,
  args: readonly string[],
  directory: string,
  isUp: () => Promise<boolean>,
): Promise<Process> {
  let child: ChildProcess | undefined;
  let output = "";
  const start = async (): Promise<void> => {
    const server = spawn(program, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    child = server;
    for (const stream of [server.stdout, server.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-4000);
      });
    }
    for (let attempt = 0; attempt < 500 && server.exitCode === null; attempt += 1) {
      if (await isUp().catch(() => false)) return;
      await delay(20);
    }
    throw new Error(`Redis did not start: ${output}`);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const server = child;
    child = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGCONT");
    server.kill(signal);
    await gone;
  };
  // A test run that is cut short must not leave a server behind.
  const onExit = (): void => void child?.kill("SIGKILL");
  process.once("exit", onExit);
  await start();
  return {
    start,
    crash: () => end("SIGKILL"),
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    stop: async () => {
      await end("SIGKILL");
      process.off("exit", onExit);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Calls a function again when another process took the free port before the server did. */
async function onFreePort(start: () => Promise<RunningRedis>): Promise<RunningRedis> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt === 5 || !/in use|Failed listening/u.test(String(error))) throw error;
    }
  }
}

/** Starts a real Redis server on a free loopback port; it keeps nothing on disk unless `settings` say so. */
export function startRedis(options: RedisOptions = {}): Promise<RunningRedis> {
  return onFreePort(() => startServer(options));
}

async function startServer(options: RedisOptions): Promise<RunningRedis> {
  const program = find("redis-server", "valkey-server");
  const client = find("redis-cli", "valkey-cli");
  if (program === undefined || client === undefined) throw new Error(MISSING);
  const { settings = [], user, tls, replicaOf } = options;
  const directory = await mkdtemp(join(tmpdir(), "countersign-redis-"));
  const port = await freePort();
  const config = join(directory, "redis.conf");
  const admin = user === undefined ? undefined : ADMIN;
  const lines = [
    "bind 127.0.0.1",
    `dir ${directory}`,
    'save ""',
    "repl-diskless-sync-delay 0",
    ...(tls === undefined
      ? [`port ${port}`]
      : [
          "port 0",
          `tls-port ${port}`,
          `tls-ca-cert-file ${tls.ca}`,
          `tls-cert-file ${tls.cert}`,
          `tls-key-file ${tls.key}`,
        ]),
    ...(user === undefined
      ? []
      : [
          "user default off",
          `user ${ADMIN.name} on >${ADMIN.password} ~* &* +@all`,
          `user ${user.name} on >${user.password} ${user.rules}`,
        ]),
    ...(replicaOf === undefined ? [] : [`replicaof ${replicaOf.host} ${replicaOf.port}`]),
    ...settings,
  ];
  // Sentinel changes the file when it makes the server a primary.
  await writeFile(config, `${lines.join("\n")}\n`);
  const access = [
    "-h",
    "127.0.0.1",
    "-p",
    String(port),
    "--no-auth-warning",
    ...(tls === undefined
      ? []
      : ["--tls", "--cacert", tls.ca, "--cert", tls.cert, "--key", tls.key]),
    ...(admin === undefined ? [] : ["--user", admin.name, "--pass", admin.password]),
  ];
  const cli = async (...command: string[]): Promise<string> =>
    (await run(client, [...access, ...command], { timeout: 5000 })).stdout.trim();
  const server = await runProcess(program, [config], directory, async () => {
    if ((await cli("PING")) !== "PONG") return false;
    if (replicaOf === undefined) return true;
    const seen = await replicaOf.cli("INFO", "replication");
    return seen.includes(`port=${port},state=online`);
  });
  const login = user === undefined ? "" : `${user.name}:${user.password}@`;
  return {
    host: "127.0.0.1",
    port,
    url: `${tls === undefined ? "redis" : "rediss"}://${login}127.0.0.1:${port}`,
    cli,
    ...server,
  };
}

/** Starts a Sentinel that watches a primary under the name `primary`, and replaces it within about a second. */
export function startSentinel(primary: RunningRedis): Promise<RunningRedis> {
  return onFreePort(() => startWatcher(primary));
}

async function startWatcher(primary: RunningRedis): Promise<RunningRedis> {
  const program = find("redis-server", "valkey-server");
  const client = find("redis-cli", "valkey-cli");
  if (program === undefined || client === undefined) throw new Error(MISSING);
  const directory = await mkdtemp(join(tmpdir(), "countersign-sentinel-"));
  const port = await freePort();
  const config = join(directory, "sentinel.conf");
  const lines = [
    "bind 127.0.0.1",
    `port ${port}`,
    `dir ${directory}`,
    `sentinel monitor primary ${primary.host} ${primary.port} 1`,
    "sentinel down-after-milliseconds primary 500",
    "sentinel failover-timeout primary 3000",
  ];
  await writeFile(config, `${lines.join("\n")}\n`);
  const cli = async (...command: string[]): Promise<string> =>
    (await run(client, ["-p", String(port), ...command], { timeout: 5000 })).stdout.trim();
  const server = await runProcess(program, [config, "--sentinel"], directory, async () =>
    (await cli("PING")).includes("PONG"),
  );
  return { host: "127.0.0.1", port, url: `redis://127.0.0.1:${port}`, cli, ...server };
}

/** The nodes of a Redis Cluster. */
export type RunningRedisCluster = {
  readonly nodes: readonly RunningRedis[];
  readonly url: string;
  stop(): Promise<void>;
};

/** Starts a Redis Cluster of three primaries, which share the slots. */
export async function startRedisCluster({
  user,
}: Pick<RedisOptions, "user"> = {}): Promise<RunningRedisCluster> {
  const settings = ["cluster-enabled yes", "cluster-node-timeout 1000"];
  const nodes: RunningRedis[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (let count = 0; count < 3; count += 1) {
      nodes.push(await startRedis({ settings, ...(user === undefined ? {} : { user }) }));
    }
    const [first, ...others] = nodes as [RunningRedis, ...RunningRedis[]];
    await first.cli(
      "--cluster",
      "create",
      ...nodes.map(({ host, port }) => `${host}:${port}`),
      "--cluster-replicas",
      "0",
      "--cluster-yes",
    );
    for (const node of [first, ...others]) {
      for (let attempt = 0; ; attempt += 1) {
        if ((await node.cli("CLUSTER", "INFO")).includes("cluster_state:ok")) break;
        if (attempt === 250) throw new Error("the cluster did not form");
        await delay(40);
      }
    }
    const login = user === undefined ? "" : `${user.name}:${user.password}@`;
    return {
      nodes,
      url: `redis://${login}${nodes.map(({ host, port }) => `${host}:${port}`).join(",")}`,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
