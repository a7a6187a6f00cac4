import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, connect } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { sleep } from "./clock.js";
import { endWithParent, stopChild } from "./peer.js";
import { withChildren } from "./usage.js";
import type { Place, Running } from "./variant.js";

/** Whether nginx is installed; tries apt once if permitted. */
export function hasNginx(): boolean {
  if (nginxVersion() !== undefined) return true;
  if (process.getuid?.() !== 0) return false;
  process.stdout.write("installing nginx-light for comparison\n");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const run = (command: string, ...args: string[]): void => {
    spawnSync(command, args, { env, stdio: "ignore", timeout: 120_000 });
  };
  run("apt-get", "update", "-q");
  run("apt-get", "install", "-y", "-q", "nginx-light");
  // The package installs a service; RUNLEVEL keeps old scripts from starting it, this is for
  // systemd.
  run("systemctl", "disable", "--now", "nginx");
  return nginxVersion() !== undefined;
}

/** The version that nginx reports. */
export function nginxVersion(): string | undefined {
  const said = spawnSync("nginx", ["-v"], { encoding: "utf8" });
  return /nginx\/(\S+)/u.exec(said.stderr ?? "")?.[1];
}

/**
 * One worker, as the others have one event loop; no buffering, connections to the agent kept open.
 */
function configuration(directory: string, port: number, agentPort: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${join(directory, name)};`)
    .join("\n");
  return `${process.getuid?.() === 0 ? "user root;\n" : ""}worker_processes 1;
daemon off;
pid ${join(directory, "nginx.pid")};
error_log ${join(directory, "error.log")} warn;
events { worker_connections 8192; }
http {
${temporary}
  access_log off;
  keepalive_requests 1000000;
  upstream agent { server 127.0.0.1:${agentPort}; keepalive 1024; keepalive_timeout 4s; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://agent;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** Starts nginx with our own configuration, separate from the system's. */
export async function startNginx({ directory, agentPort }: Place): Promise<Running> {
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const file = join(directory, "nginx.conf");
  writeFileSync(file, configuration(directory, port, agentPort));
  const child = spawn("nginx", ["-p", directory, "-c", file], { stdio: "ignore" });
  endWithParent(child);
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`nginx did not start: ${file}`);
    await sleep(0.05);
  }
  return {
    target: { port, path: "/" },
    pids: () => withChildren(child.pid ?? 0),
    stop: () => stopChild(child),
  };
}
