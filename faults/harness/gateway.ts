import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMAND } from "./command.js";
import { openInspector } from "./inspector.js";
import type { Inspector } from "./inspector.js";
import type { Scene } from "./scene.js";

/** A gateway that runs as its own process. */
export type GatewayProcess = {
  readonly directory: string;
  readonly url: string;
  readonly webSocketUrl: string;
  readonly controlUrl: string;
  readonly pid: number;
  readonly child: ChildProcess;
  readonly inspector: Inspector;
  /** The end of what it printed. */
  output(): string;
  hasExited(): boolean;
  /** Resident memory, as the kernel counts it. */
  residentBytes(): number;
  /** Open connections and listeners. */
  sockets(): number;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** `SIGTERM`, and then its exit code. */
  stop(): Promise<number | null>;
};

/** What a test chooses about a gateway. */
export type GatewaySettings = {
  /** Merged over the defaults and written as `countersign.yaml`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The agent behind `/agents/support`. */
  readonly agent?: string | Readonly<Record<string, unknown>>;
  readonly policy?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A program that starts the gateway, with its arguments. */
  readonly launcher?: readonly string[];
};

/** Everything that no further rule names passes, at any rate. */
export const OPEN_POLICY = `hushspec: "0.1.0"
name: open
rules:
  ag_ui:
    allow_display_without_capability: true
    restricted_classifications: []
    max_events_per_second: 1000000
  ag_ui_inbound: { default: allow }
`;

/** Writes configuration and policy into a directory; a gateway can then be started there, again and again. */
export function writeSettings(directory: string, settings: GatewaySettings): void {
  const { agent = "http://127.0.0.1:9/", config = {}, policy = OPEN_POLICY } = settings;
  const document = {
    listen: { host: "127.0.0.1", port: 0 },
    control: { host: "127.0.0.1", port: 0 },
    agents: { support: typeof agent === "string" ? { url: agent } : agent },
    policy: "policy.yaml",
    receipts: { store: "sqlite:receipts" },
    keys: { directory: "keys" },
    ...config,
  };
  writeFileSync(join(directory, "policy.yaml"), policy);
  // JSON is YAML.
  writeFileSync(join(directory, "countersign.yaml"), JSON.stringify(document, undefined, 2));
}

/** Starts a gateway in a directory that has its settings. */
export async function startIn(
  scene: Scene,
  directory: string,
  settings: Pick<GatewaySettings, "environment" | "launcher"> = {},
): Promise<GatewayProcess> {
  const words = [
    ...(settings.launcher ?? []),
    process.execPath,
    "--inspect=127.0.0.1:0",
    COMMAND,
    "serve",
  ];
  const child = spawn(words[0] as string, words.slice(1), {
    cwd: directory,
    env: { ...process.env, NO_COLOR: "1", ...settings.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const started = Date.now();
  const addresses = await new Promise<{ data: string; control: string; debug: string }>(
    (resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        output = (output + chunk.toString("utf8")).slice(-16_000);
        const debug = /Debugger listening on (ws:\S+)/u.exec(output)?.[1];
        const said = /listening (http\S+)\s+control (http\S+)/u.exec(output);
        if (debug === undefined || said === null) return;
        resolve({ data: said[1] as string, control: said[2] as string, debug });
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.once("error", reject);
      child.once("exit", (code) => {
        reject(
          new Error(`the gateway ended with ${code} after ${Date.now() - started} ms: ${output}`),
        );
      });
    },
  );
  const pid = child.pid as number;
  const gone = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => resolve(code));
  });
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    if (!hasExited()) child.kill(signal);
    return gone;
  };
  const inspector = await openInspector(addresses.debug);
  scene.defer(async () => {
    inspector.close();
    if (!hasExited()) await end("SIGKILL");
  });
  return {
    directory,
    url: addresses.data,
    webSocketUrl: addresses.data.replace("http", "ws"),
    controlUrl: addresses.control,
    pid,
    child,
    inspector,
    output: () => output,
    hasExited,
    residentBytes: () => {
      const line = /VmRSS:\s+(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
      return Number(line?.[1] ?? 0) * 1024;
    },
    sockets: () => countSockets(pid),
    kill: async () => {
      await end("SIGKILL");
      inspector.close();
    },
    stop: () => {
      // A debugger that stays attached keeps the process waiting at its end.
      inspector.close();
      return end("SIGTERM");
    },
  };
}

/** Starts a gateway in a directory of its own. */
export async function startGateway(
  scene: Scene,
  settings: GatewaySettings,
): Promise<GatewayProcess> {
  const directory = await scene.directory();
  writeSettings(directory, settings);
  return startIn(scene, directory, settings);
}

function countSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith("socket:");
    } catch {
      // Closed since the folder was read.
      return false;
    }
  }).length;
}
