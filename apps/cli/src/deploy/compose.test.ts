import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres, startRedis } from "@countersign/testkit";
import { loadConfig, startGateway } from "@countersign/gateway";
import { expect, test } from "vitest";
import { parse } from "yaml";

const deploy = fileURLToPath(new URL("../../../../deploy/", import.meta.url));
const file = join(deploy, "compose/compose.yaml");

type Service = {
  image: string;
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  volumes?: string[];
  ports?: string[];
  networks: string[];
  secrets?: string[];
  profiles?: string[];
  depends_on?: Record<string, unknown>;
  environment?: Record<string, string>;
};
const compose = parse(readFileSync(file, "utf8"), { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
  secrets: Record<string, { file: string }>;
};
const services = Object.entries(compose.services);

test("every part is there, and every name that a service uses is defined", () => {
  const names = ["agent", "gateway", "proxy", "postgres", "redis", "prometheus", "grafana"];
  expect(Object.keys(compose.services)).toEqual(names);
  for (const [name, service] of services) {
    const { networks, secrets = [], volumes = [], depends_on: needed = {} } = service;
    for (const network of networks) expect(compose.networks, name).toHaveProperty(network);
    for (const secret of secrets) expect(compose.secrets, name).toHaveProperty(secret);
    for (const other of Object.keys(needed)) expect(compose.services).toHaveProperty(other);
    for (const volume of volumes) {
      const [source = ""] = volume.split(":");
      const isPath = source.startsWith(".");
      const isKnown = isPath
        ? existsSync(resolve(dirname(file), source))
        : source in compose.volumes;
      expect(isKnown, `${name}: ${volume}`).toBe(true);
    }
  }
});

test("nothing writes to its root, gains rights or listens beyond this machine; agent and database have no way out", () => {
  for (const [name, service] of services) {
    expect(service.read_only, name).toBe(true);
    expect(service.cap_drop, name).toEqual(["ALL"]);
    expect(service.security_opt, name).toEqual(["no-new-privileges:true"]);
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/u);
    expect(service.image).toMatch(/:[\w.-]+(?:@sha256:[0-9a-f]{64})?$/u);
  }
  expect(compose.networks["agents"]).toEqual({ internal: true });
  expect(compose.networks["data"]).toEqual({ internal: true });
  expect(compose.services["postgres"]?.networks).toEqual(["data"]);
  expect(compose.services["agent"]?.networks).toEqual(["agents"]);
});

test("secrets are made once and are in no file of the repository", () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-compose-"));
  try {
    const script = join(folder, "make-secrets.sh");
    cpSync(join(deploy, "compose/make-secrets.sh"), script);
    expect(spawnSync("sh", [script]).status).toBe(0);
    const first = readFileSync(join(folder, "secrets/store"), "utf8");
    expect(first).toContain(readFileSync(join(folder, "secrets/postgres"), "utf8").trim());
    expect(spawnSync("sh", [script]).status).toBe(0);
    expect(readFileSync(join(folder, "secrets/store"), "utf8")).toBe(first);
    for (const { file: path } of Object.values(compose.secrets)) {
      expect(existsSync(join(folder, path))).toBe(true);
    }
    expect(readFileSync(join(deploy, "compose/.gitignore"), "utf8")).toBe("secrets/\n");
    expect(statSync(join(deploy, "compose/make-secrets.sh")).mode & 0o111).not.toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

test("the agent, the configuration and the policy of the file work together: text passes, another page is blocked", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-compose-"));
  const port = await freePort();
  const agent = spawn(process.execPath, [join(deploy, "compose/agent/main.mjs")], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  const written = readFileSync(join(deploy, "compose/etc/countersign.yaml"), "utf8");
  const text = written
    .replaceAll("0.0.0.0", "127.0.0.1")
    .replaceAll(/port: \d+/gu, "port: 0")
    .replace("http://agent:8000/", `http://127.0.0.1:${port}/`)
    .replace("/etc/countersign-policy/", join(deploy, "helm/countersign/files/"))
    .replace("/var/lib/countersign", folder);
  const [postgres, redis] = [
    await startPostgres(),
    await startRedis({ user: { name: "gateway", password: "secret", rules: "~* &* +@all" } }),
  ];
  const config = loadConfig(text, {
    file: join(folder, "countersign.yaml"),
    environment: {
      COUNTERSIGN_STORE: postgres.url,
      COUNTERSIGN_REDIS: redis.url,
    },
  });
  const running = await startGateway(config);
  try {
    const ask = () =>
      fetch(`${running.dataUrl}/agents/support`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({
          threadId: "t1",
          runId: `r${Math.random()}`,
          messages: [],
          tools: [],
          context: [],
          state: {},
        }),
      }).then((response) => response.text());
    await expect.poll(ask, { timeout: 20_000, interval: 200 }).toContain("on its way");
    const shown = await ask();
    expect(shown).not.toContain("elsewhere.example");
    expect(shown).toContain("RUN_FINISHED");
  } finally {
    await running.close();
    await Promise.all([postgres.stop(), redis.stop()]);
    agent.kill();
    rmSync(folder, { recursive: true });
  }
});

const hasCompose = spawnSync("docker-compose", ["version"]).status === 0;

test("docker-compose reads the file", (context) => {
  if (!hasCompose) context.skip("docker-compose is not installed: the file was only read");
  const folder = mkdtempSync(join(tmpdir(), "countersign-compose-"));
  try {
    cpSync(deploy, folder, { recursive: true });
    spawnSync("sh", [join(folder, "compose/make-secrets.sh")]);
    const run = spawnSync(
      "docker-compose",
      ["-f", join(folder, "compose/compose.yaml"), "config", "-q"],
      {
        encoding: "utf8",
      },
    );
    expect(run.status, run.stderr).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
