import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, startGateway } from "@countersign/gateway";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../testing/run-program.js";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "countersign-cli-serve-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const config = (agent = "http://127.0.0.1:9/") =>
  `agents: { a: { url: "${agent}" } }\nlisten: { port: 0 }\ncontrol: { port: 0 }\n` +
  "shutdown: { drain_timeout: 0.3 }\n";

test("--check looks at everything and makes nothing", async () => {
  const file = join(home, "check.yaml");
  await writeFile(file, config());
  const before = await readdir(home);
  const { code, out } = await runProgram("serve", "--config", file, "--check", "--json");
  expect(code).toBe(0);
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: { part: string }[] };
  expect(ok).toBe(true);
  expect(findings.map(({ part }) => part)).toEqual([
    "agents",
    "policy",
    "keys",
    "store",
    "revocations",
    "access",
    "tls",
    "operators",
    "listen",
    "control",
  ]);
  expect(await readdir(home)).toEqual(before);
});

test("--check tries the ports and gives them back, and says who cannot have one", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  const file = join(home, "ports.yaml");
  const agents = 'agents: { a: { url: "http://127.0.0.1:9/" } }\n';
  await writeFile(file, `${agents}listen: { port: ${port} }\ncontrol: { port: 0 }\n`);
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(1);
  expect(out).toContain(`failed listen: 127.0.0.1:${port} is in use`);
  const replaced = await runProgram("serve", "--config", file, "--check", "--while-running");
  expect(replaced.code).toBe(0);
  await new Promise((resolve) => taken.close(resolve));
  expect((await runProgram("serve", "--config", file, "--check")).code).toBe(0);
  await expect(runProgram("serve", "--config", file, "--ask")).rejects.toThrow("--check");
});

test("--ask starts one run at each agent, and takes no credential to where it is sent on", async () => {
  const good = await startFakeAgent(({ method, body }) => {
    const ids = method === "POST" ? (JSON.parse(body) as { threadId: string; runId: string }) : {};
    const { threadId, runId } = { threadId: "t", runId: "r", ...ids };
    return {
      pieces: ["RUN_STARTED", "RUN_FINISHED"].map((type) => sseFrame({ type, threadId, runId })),
    };
  });
  let led = 0;
  const elsewhere = createServer(() => {
    led += 1;
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const { port } = elsewhere.address() as AddressInfo;
  const leading = createHttpServer((_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
  });
  await new Promise<void>((resolve) => leading.listen(0, "127.0.0.1", resolve));
  try {
    const file = join(home, "asked.yaml");
    const astray = `http://127.0.0.1:${(leading.address() as AddressInfo).port}/`;
    await writeFile(
      file,
      `agents:\n  good: { url: "${good.url}" }\n  told: { url: "${good.url}", transport: get-sse }\n  down: { url: "http://127.0.0.1:9/" }\n` +
        `  astray: { url: "${astray}", headers: { authorization: secret } }\n` +
        "listen: { port: 0 }\ncontrol: { port: 0 }\n",
    );
    const { code, out } = await runProgram("serve", "--config", file, "--check", "--ask", "--json");
    expect(code).toBe(1);
    const { findings } = JSON.parse(out) as { findings: { part: string; ok: boolean }[] };
    expect(findings.filter(({ part }) => part.startsWith("agent "))).toMatchObject([
      { part: "agent good", ok: true, says: expect.stringContaining("answers with 2 events") },
      { part: "agent told", ok: true },
      {
        part: "agent down",
        ok: false,
        says: expect.stringContaining("nothing listens on this port"),
      },
      { part: "agent astray", ok: false },
    ]);
    expect(led).toBe(0);
    expect(good.requests.map(({ method }) => method).sort()).toEqual(["GET", "POST"]);
  } finally {
    await good.stop();
    leading.close();
    elsewhere.close();
  }
});

test("--check runs the cases beside the policy", async () => {
  const folder = join(home, "cases");
  await mkdir(folder);
  const file = join(folder, "countersign.yaml");
  await writeFile(file, `${config()}policy: policy.yaml\n`);
  await writeFile(
    join(folder, "policy.yaml"),
    "ag_ui: { allow_display_without_capability: true }\n",
  );
  const expecting = (decision: string): string =>
    `cases:\n  - name: text\n    event: { type: TEXT_MESSAGE_END, messageId: m }\n    expect: { decision: ${decision} }\n`;
  await writeFile(join(folder, "policy.test.yaml"), expecting("allow"));
  const fine = await runProgram("serve", "--config", file, "--check");
  expect(fine.out).toContain("ok policy tests: 1 of 1 cases pass");
  await writeFile(join(folder, "policy.test.yaml"), expecting("block"));
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(1);
  expect(out).toContain('failed policy tests: 1 of 1 cases fail, first "text"');
});

test("--check says what is missing and answers with 1", async () => {
  const file = join(home, "broken.yaml");
  await writeFile(
    file,
    `${config()}policy: nowhere.yaml\nreceipts: { store: "postgres://u:p@127.0.0.1:9/x" }\n`,
  );
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(1);
  expect(out).toContain("failed policy:");
  expect(out).toContain("failed store:");
  expect(out).not.toContain("u:p@");
});

test("--check tries what a start would use: keys, certificate, key sets and key lists", async () => {
  const file = join(home, "unusable.yaml");
  await writeFile(join(home, "junk.pem"), "junk");
  await writeFile(
    file,
    `agents: { a: { url: "http://127.0.0.1:9/" } }\n` +
      "listen: { port: 0, tls: { cert: junk.pem, key: junk.pem } }\ncontrol: { port: 0 }\n" +
      "keys: { directory: junk.pem }\n" +
      "access: { mode: jwt, jwt: { issuer: i, audience: a, jwks: no-such-set.json } }\n",
  );
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(1);
  expect(out).toContain("junk.pem cannot be used: it is not PEM");
  expect(out).toContain("junk.pem is not a directory");
  expect(out).toMatch(/failed access: the key set of i at .*no-such-set\.json: ENOENT/u);
});

test("--check fails where a start would: a store without what was signed for, revocations that cannot be read", async () => {
  const folder = join(home, "lost");
  const file = join(folder, "countersign.yaml");
  await mkdir(folder);
  const text = `${config()}capabilities: { revocations: revoked.jsonl }\n`;
  await writeFile(file, text);
  const running = await startGateway(loadConfig(text, { file, environment: {} }));
  // A refusal is on record too.
  await fetch(`${running.dataUrl}/agents/a`, { method: "POST", body: "{" });
  await running.close();
  expect((await runProgram("serve", "--config", file, "--check")).code).toBe(0);
  await rm(join(folder, ".countersign", "receipts"), { recursive: true });
  await writeFile(join(folder, "revoked.jsonl"), "junk\n");
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(1);
  expect(out).toMatch(/failed store: the store does not hold the \d+ entries/u);
  expect(out).toMatch(/failed revocations: .*revoked\.jsonl:1: /u);
});

test("--check and a start remark upon private keys that others can read, and go on", async () => {
  const folder = join(home, "exposed");
  const file = join(folder, "countersign.yaml");
  await mkdir(folder);
  await writeFile(file, config());
  const start = async () => {
    const warned: object[] = [];
    const journal = {
      debug: () => {},
      info: () => {},
      error: () => {},
      warn: (facts: object) => void warned.push(facts),
    };
    const options = { file, environment: {} };
    const running = await startGateway(loadConfig(config(), options), { journal });
    await running.close();
    return warned;
  };
  expect(await start()).toEqual([]);
  const key = join(folder, ".countersign", "keys", "receipts.pem");
  await chmod(key, 0o644);
  expect(await start()).toEqual([{ code: "KEY_EXPOSED", file: key, mode: "0644" }]);
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(0);
  expect(out).toContain(
    "3 of 3 keys exist; receipts.pem can be read by other users (mode 0644. Fix: chmod 600)",
  );
});

test("neither --check nor a start waits for a pipe in the place of a policy", async () => {
  const file = join(home, "pipe.yaml");
  execFileSync("mkfifo", [join(home, "policy.pipe")]);
  await writeFile(file, `${config()}policy: policy.pipe\n`);
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(1);
  expect(out).toMatch(/failed policy: .*policy\.pipe is not a regular file/u);
  await expect(runProgram("serve", "--config", file)).rejects.toThrow("is not a regular file");
});

test("--check tells an issuer that is out of reach, for which no start waits", async () => {
  const file = join(home, "away.yaml");
  const jwt = "{ issuer: i, audience: a, jwks: https://127.0.0.1:9/jwks.json }";
  await writeFile(file, `${config()}access: { mode: jwt, jwt: ${jwt} }\n`);
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(0);
  expect(out).toContain("not reachable now: the key set of i at https://127.0.0.1:9/jwks.json: ");
});

test("--check remarks upon two names for one agent, whose threads are separate, and is content", async () => {
  const file = join(home, "twice.yaml");
  const twice = config().replace(
    "agents: { ",
    'agents: { b: { url: "http://u:s3cret@127.0.0.1:9" }, c: { url: "http://127.0.0.1:9/c" }, ',
  );
  await writeFile(file, `${twice}default_agent: a\n`);
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(code).toBe(0);
  expect(out).toContain(
    "ok agents: 3 configured; b and a have the same address; the gateway keeps their threads separate",
  );
  expect(out).not.toContain("s3cret");
});

test("--check shows an agent's address without its password and its query", async () => {
  const file = join(home, "secret.yaml");
  await writeFile(file, config("http://someone:s3cret@127.0.0.1:9/chat?key=s3cret"));
  for (const flags of [[], ["--json"]]) {
    const { code, out } = await runProgram("serve", "--config", file, "--check", ...flags);
    expect(code).toBe(0);
    expect(out).toContain("http://127.0.0.1:9/chat?…");
    expect(out).not.toMatch(/s3cret|someone/u);
  }
});

test.runIf(existsSync("/proc/1"))(
  "a folder that cannot be made is told at the start as --check tells it, by the folder that is there",
  async () => {
    const file = join(home, "unmakeable.yaml");
    // No user, not even root, may write to a directory of this kind.
    const place = "/proc/1/fdinfo";
    await writeFile(
      file,
      `${config()}keys: { directory: ${place}/deep/keys }\nreceipts: { store: "sqlite:${place}/deep/r" }\n`,
    );
    // Looked at, not tried: what making a folder says depends on the disk.
    await expect(runProgram("serve", "--config", file)).rejects.toMatchObject({
      syscall: "access",
      path: expect.stringMatching(/^\/proc\/1/u) as string,
    });
  },
);

test("config schema prints the grammar of the configuration", async () => {
  const { out } = await runProgram("config", "schema");
  expect(JSON.parse(out)).toMatchObject({ title: "countersign.yaml" });
});

const BIN = new URL("../../bin/countersign.js", import.meta.url).pathname;
const isBuilt = existsSync(new URL("../../dist/main.js", import.meta.url));

function start(file: string) {
  const child: ChildProcess = spawn(process.execPath, [BIN, "serve", "--config", file], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { out: "", err: "" };
  child.stdout?.on("data", (part: Buffer) => (output.out += String(part)));
  child.stderr?.on("data", (part: Buffer) => (output.err += String(part)));
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { child, output, exit };
}

test.runIf(isBuilt)(
  "a process says where its console is; told to stop it ends its open runs with RUN_ERROR, logs JSON, and exits with 0",
  async () => {
    const agent = await startFakeAgent(({ body, signal }) => ({
      pieces: (async function* () {
        const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
        yield sseFrame({ type: "RUN_STARTED", threadId, runId });
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      })(),
    }));
    const file = join(home, "serve.yaml");
    await writeFile(file, config(agent.url));
    const { child, output, exit } = start(file);
    await expect.poll(() => output.out, { timeout: 20_000 }).toContain('"msg":"listening ');
    const told = JSON.parse(output.out.split("\n")[0] ?? "") as { data: string; console: string };
    const { data } = told;
    const page = await fetch(told.console);
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining("/console/assets/"),
    ]);
    await expect.poll(() => output.err).toMatch(/admin token, shown once: \S{43}/u);
    expect(output.out).not.toContain(/once: (\S+)/u.exec(output.err)?.[1] ?? "?");
    const response = await fetch(`${data}/agents/a`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ protocolVersion: "1.0", threadId: "t", runId: "r", messages: [] }),
    });
    child.kill("SIGTERM");
    expect(await response.text()).toContain('"RUN_STOPPED"');
    expect(await exit).toBe(0);
    const lines = output.out.trim().split("\n");
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages.slice(1)).toEqual(["stopping", "run ended", "stopped"]);
    await agent.stop();
  },
);
