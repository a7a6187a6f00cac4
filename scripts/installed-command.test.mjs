// The command as npx installs it: packed, in an empty folder outside of the clone, and without the network.
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pack, packCommand } from "./pack.mjs";
import { read, root } from "./sources.mjs";

/** Megabytes on disk of all that `npm install countersign` brings. */
const MAX_MEGABYTES = 60;

const scratch = mkdtempSync(join(tmpdir(), "countersign-installed-"));
const user = join(scratch, "user");
const modules = join(user, "node_modules");
const { version } = JSON.parse(read("apps/cli/package.json"));

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** The folders of a package and of its dependencies in this workspace. */
function foldersOf(name, from, found = new Map()) {
  let place = from;
  while (!existsSync(join(place, "node_modules", name))) {
    if (place === dirname(place)) throw new Error(`${name} is not installed`);
    place = dirname(place);
  }
  const folder = realpathSync(join(place, "node_modules", name));
  if (found.has(name)) return found;
  found.set(name, folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const needed of Object.keys(dependencies)) foldersOf(needed, folder, found);
  return found;
}

beforeAll(async () => {
  mkdirSync(user);
  const [command] = (await packCommand(scratch)).values();
  // Its dependencies from the workspace, as tarballs too: npm then asks no registry.
  const needed = foldersOf("@photostructure/sqlite", join(root, "packages/receipts"));
  const tarballs = [command, ...pack(scratch, [...needed.values()]).values()];
  writeFileSync(join(user, "package.json"), '{ "name": "empty", "private": true }');
  const words = [
    "install",
    "--offline",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    ...tarballs,
  ];
  const installed = spawnSync("npm", words, { cwd: user, encoding: "utf8" });
  if (installed.status !== 0) throw new Error(`npm install failed: ${installed.stderr}`);
}, 300_000);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const run = (...words) =>
  spawnSync("npx", ["--offline", "countersign", ...words], {
    cwd: user,
    encoding: "utf8",
    env: { ...process.env, npm_config_loglevel: "error" },
  });

function sizeOf(folder) {
  const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  const states = paths.map((path) => statSync(path));
  const blocks = states.reduce((sum, state) => sum + state.blocks, 0);
  const bytes = states.reduce((sum, state) => sum + (state.isFile() ? state.size : 0), 0);
  return { disk: Math.ceil((blocks * 512) / 1e6), files: Math.ceil(bytes / 1e6) };
}

test(`the command and its dependencies take less than ${MAX_MEGABYTES} MB`, () => {
  const { disk, files } = sizeOf(modules);
  const parts = ["countersign", "@photostructure"].map(
    (name) => `${name} ${sizeOf(join(modules, name)).disk} MB`,
  );
  console.log(
    `countersign installed: ${disk} MB on disk, ${files} MB in files (${parts.join(", ")})`,
  );
  expect(disk).toBeLessThan(MAX_MEGABYTES);
});

test("the package names the licenses of the libraries in it, and no dependency that is in it", () => {
  const folder = join(modules, "countersign");
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect(Object.keys(manifest.dependencies)).toEqual(["@photostructure/sqlite"]);
  expect(manifest.devDependencies).toBeUndefined();
  const installed = readdirSync(modules).filter((name) => !name.startsWith("."));
  expect(installed.toSorted()).toEqual([
    "@photostructure",
    "countersign",
    "node-addon-api",
    "node-gyp-build",
  ]);
  const notices = readFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), "utf8");
  for (const name of ["hono", "pino", "pg", "ws", "yaml", "jose", "@bufbuild/cel"]) {
    expect(notices).toMatch(new RegExp(`^${name} \\d`, "mu"));
  }
  for (const name of ["LICENSE", "README.md", "policies/starter.yaml", "console/page/index.html"]) {
    expect(existsSync(join(folder, name)), name).toBe(true);
  }
});

test("the installed command begins as the README says", { timeout: 120_000 }, () => {
  expect(run("--version").stdout).toBe(`${version}\n`);
  expect(run("init", "--agent", "http://127.0.0.1:8000/")).toMatchObject({ status: 0 });
  // Its ports may be in use here; any others do.
  const configuration = join(user, "countersign.yaml");
  const anyPorts = readFileSync(configuration, "utf8").replaceAll(/port: 808[01]/gu, "port: 0");
  writeFileSync(configuration, anyPorts);
  expect(run("serve", "--check")).toMatchObject({ status: 0, stderr: "" });
  expect(run("policy", "test", "policy.test.yaml")).toMatchObject({ status: 0 });
  expect(run("redteam", "list").stdout).toMatch(/\d+ documents/u);
  // Packages do not contain docs/, so messages and files name pages by address.
  const explained = run("policy", "explain", "ERR_RECEIPT_MALFORMED").stdout;
  for (const text of [explained, readFileSync(join(user, "policy.yaml"), "utf8")]) {
    expect(text).toMatch(/https:\/\/\S+\/docs\//u);
    expect(text).not.toMatch(/\.md\b/u);
  }
});

test(
  "npx countersign demo serves its page and its console, and blocks acts of its agent",
  { timeout: 120_000 },
  async () => {
    const empty = join(scratch, "empty");
    mkdirSync(empty);
    const command = join(modules, "countersign", "bin", "countersign.js");
    const demo = spawn(process.execPath, [command, "demo", "--port", "0", "--json"], {
      cwd: empty,
    });
    try {
      let text = "";
      for await (const piece of demo.stdout) {
        text += piece;
        if (text.includes("}")) break;
      }
      const { page, gateway, control, console: consoleUrl, adminToken } = JSON.parse(text);
      for (const [url, content] of [
        [page, "<!doctype html>"],
        [`${page}verify.js`, "export"],
        [`${page}main.js`, "import"],
        [consoleUrl, "<script"],
      ]) {
        const response = await fetch(url);
        expect(response.status, url).toBe(200);
        expect((await response.text()).toLowerCase(), url).toContain(content);
      }
      const { guarded } = await (await fetch(`${page}settings.json?session=installed-1`)).json();
      const answer = await fetch(guarded ?? `${gateway}/agents/demo`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({
          threadId: "t1",
          runId: "r1",
          messages: [],
          tools: [],
          context: [],
          state: {},
        }),
      });
      expect(await answer.text()).toContain("RUN_FINISHED");
      const status = await fetch(`${control}/v1/status`, {
        headers: { authorization: `Bearer ${adminToken}` },
      });
      expect((await status.json()).counts.events_blocked).toBeGreaterThan(0);
    } finally {
      const ended = new Promise((resolve) => void demo.once("exit", resolve));
      demo.kill("SIGTERM");
      await ended;
    }
  },
);

test(
  "an installed gateway records a run, and its receipts verify",
  { timeout: 120_000 },
  async () => {
    const folder = join(scratch, "gateway");
    mkdirSync(folder);
    const agentPort = await freePort();
    const agent = spawn(process.execPath, [join(root, "deploy/compose/agent/main.mjs")], {
      env: { ...process.env, PORT: String(agentPort) },
      stdio: "ignore",
    });
    writeFileSync(
      join(folder, "countersign.yaml"),
      `agents: { a: { url: "http://127.0.0.1:${agentPort}/" } }\nlisten: { port: 0 }\ncontrol: { port: 0 }\n`,
    );
    const command = join(modules, "countersign", "bin", "countersign.js");
    const gateway = spawn(process.execPath, [command, "serve"], { cwd: folder });
    const ended = new Promise((resolve) => void gateway.once("exit", resolve));
    try {
      let text = "";
      for await (const piece of gateway.stdout) {
        text += piece;
        if (text.includes("listening")) break;
      }
      const [, url] = /"data":"([^"]+)"/u.exec(text) ?? [];
      const answer = await fetch(`${url}/agents/a`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({
          threadId: "t1",
          runId: "r1",
          messages: [],
          tools: [],
          context: [],
          state: {},
        }),
      });
      expect(await answer.text()).toContain("RUN_FINISHED");
    } finally {
      gateway.kill("SIGTERM");
      await ended;
      agent.kill();
    }
    const verified = spawnSync(process.execPath, [command, "receipts", "verify"], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(verified.status, verified.stdout + verified.stderr).toBe(0);
    const listed = spawnSync(process.execPath, [command, "receipts", "list", "--json"], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(listed.stdout).toContain(`"run_id": "r1"`);
  },
);
