import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";

const place = (name: string): URL => new URL(`../../../../deploy/${name}`, import.meta.url);
const read = (name: string): string => readFileSync(place(name), "utf8");
const dockerfile = read("Dockerfile");
const unit = read("countersign.service");
const nodes = JSON.parse(read("../scripts/nodes.json")) as { maintained: string[]; image: string };

/** Instructions of the last stage, continued lines joined. */
const instructions = dockerfile
  .replaceAll(/^#.*$/gmu, "")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => line.trim() !== "");
const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith("FROM ")));

test("the Dockerfile is without fault for a linter", () => {
  expect(validate(dockerfile)).toEqual([]);
});

test("the image is built in stages from pinned Debian images, and runs as no root, with a health check", () => {
  const bases = instructions.filter((line) => line.startsWith("FROM "));
  expect(bases.length).toBeGreaterThan(1);
  const pinned = /^FROM node:\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}( AS \w+)?$/u;
  for (const base of bases) expect(base).toMatch(pinned);
  const images = new Set(bases.map((base) => base.split(" ")[1]));
  expect(images.size).toBe(1);
  expect(last.filter((line) => line.startsWith("USER "))).toEqual(["USER 1000:1000"]);
  for (const word of ["HEALTHCHECK", "STOPSIGNAL SIGTERM", "VOLUME", "ENTRYPOINT", "CMD"]) {
    expect(last.some((line) => line.startsWith(word))).toBe(true);
  }
  // The exec form: with a shell in between, SIGTERM would never reach the gateway.
  for (const line of last.filter((one) => /^(ENTRYPOINT|CMD) /u.test(one))) {
    expect(line).toMatch(/^\w+ \[/u);
  }
});

test("the image has a Node that the tests are run with, and the documentation names each of them", () => {
  expect(nodes.maintained).toContain(nodes.image);
  expect(last[0]).toMatch(new RegExp(`^FROM node:${nodes.image}\\.`, "u"));
  const list = nodes.maintained.join(", ").replace(/, (\d+)$/u, " and $1");
  expect(read("../docs/operate.md")).toContain(`tested with Node ${list}`);
});

test("nothing is fetched but through npm, and nothing is added from an address or run as root afterwards", () => {
  expect(dockerfile).not.toMatch(/curl|wget|apt-get|^ADD /mu);
  const user = last.findIndex((line) => line.startsWith("USER "));
  expect(last.slice(user).some((line) => line.startsWith("RUN "))).toBe(false);
  for (const line of instructions.filter((one) => one.startsWith("RUN npm"))) {
    expect(line).toMatch(/^RUN npm (ci|ls) /u);
  }
});

test("what npm names for the image is what the command needs, and nothing that tests it", () => {
  const asked = /npm (ls [^|]*) \|/u.exec(dockerfile)?.[1]?.split(" ") ?? [];
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  const { stdout } = spawnSync("npm", asked, { cwd: root, encoding: "utf8" });
  const named = stdout.split("\n").map((line) => line.split("/node_modules/").at(-1));
  expect(named).toEqual(
    expect.arrayContaining(["countersign", "@countersign/gateway", "pg", "ws"]),
  );
  // The console comes along as built files; what builds it does not.
  expect(named).toContain("@countersign/console");
  for (const name of [
    "@countersign/testkit",
    "playwright-core",
    "vitest",
    "@ag-ui/client",
    "react",
    "vite",
    "uplot",
  ]) {
    expect(named).not.toContain(name);
  }
});

test("keys, settings and history stay out of the build", () => {
  const ignored = read("Dockerfile.dockerignore").split("\n");
  for (const pattern of [".git", "**/node_modules", "**/.countersign", "**/*.pem", "**/.env*"]) {
    expect(ignored).toContain(pattern);
  }
});

test("the health check asks the port that the gateway listens on by default", () => {
  expect(dockerfile).toContain("http://127.0.0.1:8080/healthz");
  expect(dockerfile).toContain("EXPOSE 8080 8081");
});

test.each([
  [200, 0],
  [503, 1],
  [0, 1],
])("the health check of an answer %i ends with %i", async (status, code) => {
  const check = last.find((line) => line.startsWith("HEALTHCHECK")) ?? "";
  const [command = "", ...parameters] = JSON.parse(check.slice(check.indexOf("["))) as string[];
  const server = createServer((_, answer) => void answer.writeHead(status).end());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  if (status === 0) server.close();
  const COUNTERSIGN_HEALTH_URL = `http://127.0.0.1:${port}/healthz`;
  const child = spawn(command, parameters, { env: { ...process.env, COUNTERSIGN_HEALTH_URL } });
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(code);
  server.close();
});

test.each([
  "DynamicUser=yes",
  "NoNewPrivileges=yes",
  "ProtectSystem=strict",
  "ProtectHome=yes",
  "PrivateTmp=yes",
  "CapabilityBoundingSet=",
  "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
  "SystemCallFilter=@system-service",
  "StateDirectory=countersign",
])("the unit has %s", (line) => {
  expect(unit.split("\n")).toContain(line);
});

test("the unit leaves more time to stop than the gateway takes by default", () => {
  expect(Number(/^TimeoutStopSec=(\d+)$/mu.exec(unit)?.[1])).toBeGreaterThan(30);
});

const analyze = (...words: string[]) =>
  spawnSync("systemd-analyze", [...words, fileURLToPath(place("countersign.service"))], {
    encoding: "utf8",
    env: { ...process.env, SYSTEMD_COLORS: "0", SYSTEMD_PAGER: "" },
  });
const hasAnalyze = spawnSync("systemd-analyze", ["--version"]).status === 0;

test("systemd finds no fault in the unit, and little exposure", (context) => {
  if (!hasAnalyze)
    context.skip("systemd-analyze is not installed: the unit was only read, not verified");
  const verified = analyze("verify");
  // A machine without /usr/bin/node can still judge everything else.
  const faults = verified.stderr
    .split("\n")
    .filter((line) => line.includes("countersign.service") && !line.includes("is not executable"));
  expect(faults).toEqual([]);
  const { stdout } = analyze("security", "--offline=true");
  const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/u.exec(stdout)?.[1]);
  expect(exposure).toBeLessThan(2);
});
