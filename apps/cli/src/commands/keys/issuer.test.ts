import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, startGateway } from "@countersign/gateway";
import type { RunningGateway } from "@countersign/gateway";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../testing/run-program.js";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-issuer-"));
  await writeFile(
    join(folder, "countersign.yaml"),
    'agents: { a: { url: "http://127.0.0.1:9/" } }\nlisten: { port: 0 }\ncontrol: { port: 0 }\n',
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const file = (): string => join(folder, "countersign.yaml");
const start = (): Promise<RunningGateway> =>
  startGateway(loadConfig(readFileSync(file(), "utf8"), { file: file(), environment: {} }));
const rotate = (...flags: string[]) =>
  runProgram("keys", "rotate", "issuer", "--config", file(), "--json", ...flags);

async function use<Result>(task: (running: RunningGateway) => Promise<Result>): Promise<Result> {
  const running = await start();
  try {
    return await task(running);
  } finally {
    await running.close();
  }
}

const issue = (running: RunningGateway) =>
  running.tokens.issue({
    agent: "a",
    sessionId: "s",
    scopes: ["ui:submit:form"],
    notBefore: Math.floor(Date.now() / 1000) - 60,
    expiresAt: Math.floor(Date.now() / 1000) + 3600,
  });
const statusOf = (running: RunningGateway, token: string): string =>
  running.tokens.verifier.evaluate(token, { agent: "a", sessionId: "s" }).status;

test("tokens of a rotated issuer key stay valid, and its private half is gone", async () => {
  const { token } = await use(issue);
  const pem = readFileSync(join(folder, ".countersign/keys/issuer.pem"), "utf8");
  const { old, next } = JSON.parse((await rotate()).out) as { old: string; next: string };
  expect(old).not.toBe(next);
  const kept = readdirSync(join(folder, ".countersign/keys")).map((name) =>
    readFileSync(join(folder, ".countersign/keys", name), "utf8"),
  );
  expect(kept).not.toContain(pem);
  expect(statSync(join(folder, ".countersign/keys/issuer.pem")).mode & 0o077).toBe(0);
  await use(async (running) => {
    expect(running.tokens.issuer).toBe(next);
    expect(statusOf(running, token)).toBe("valid");
    expect(statusOf(running, (await issue(running)).token)).toBe("valid");
  });
});

test("with --distrust-old the tokens of the old key are rejected, and those of the key before stay valid", async () => {
  const first = (await use(issue)).token;
  await rotate();
  const second = (await use(issue)).token;
  await rotate("--distrust-old");
  await use(async (running) => {
    expect(statusOf(running, first)).toBe("valid");
    expect(statusOf(running, second)).toBe("untrusted_issuer");
  });
});

test("an issuer key is not rotated under a gateway that runs, nor without keys", async () => {
  expect(await rotate().catch((error: unknown) => error)).toMatchObject({
    code: "ERR_CLI_NO_KEYS",
  });
  await use(async () => {
    expect(await rotate().catch((error: unknown) => error)).toMatchObject({
      code: "ERR_CLI_GATEWAY_RUNS",
    });
  });
  expect(existsSync(join(folder, ".countersign/keys/issuers-retired.txt"))).toBe(false);
});
