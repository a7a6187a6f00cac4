import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { keyName, toJwk } from "@countersign/capability";
import { exportPrivateKeyPem, generateKey } from "@countersign/core/sign";
import { exportPublicKeyPem } from "@countersign/core/verify";
import { openSharedRevocations } from "@countersign/gateway";
import { startPostgres } from "@countersign/testkit";
import { Command } from "commander";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runProgram } from "../../testing/run-program.js";
import { registerCapability } from "./index.js";

const issuer = generateKey();
const holder = generateKey();
let directory = "";
const path = (name: string): string => join(directory, name);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "countersign-capability-"));
  writeFileSync(path("issuer.pem"), exportPrivateKeyPem(issuer));
  writeFileSync(path("holder.pem"), exportPrivateKeyPem(holder));
  writeFileSync(path("issuer.pub"), exportPublicKeyPem(issuer.publicKey));
  writeFileSync(path("holder.jwk"), JSON.stringify(toJwk(holder.publicKey)));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

async function run(...args: string[]): Promise<{ code: number; out: string }> {
  const program = new Command("countersign").exitOverride();
  registerCapability(program);
  const before = process.exitCode;
  process.exitCode = 0;
  let out = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    out += String(chunk);
    return true;
  });
  try {
    await program.parseAsync(["node", "countersign", "capability", ...args]);
    return { code: Number(process.exitCode), out: stripVTControlCharacters(out) };
  } finally {
    spy.mockRestore();
    process.exitCode = before;
  }
}

const issue = async (...args: string[]): Promise<string> => {
  const words = args.includes("--principal") ? [] : ["--for-unowned-session"];
  const flags = ["--key", path("issuer.pem"), "--agent", "support", ...words];
  const { out } = await run("issue", ...flags, ...args);
  return out.trim().split("\n").at(-1) ?? "";
};

test("an issued token is the last line, and inspect finds it valid for its issuer", async () => {
  const token = await issue("--scope", "ui:submit:modal:confirm-refund", "--session", "sess_01");
  for (const key of [path("issuer.pub"), keyName(issuer.publicKey)]) {
    const { code, out } = await run("inspect", token, "--issuer", key);
    expect(code).toBe(0);
    expect(out).toContain("ui:submit:modal:confirm-refund");
    expect(out.trim().endsWith("valid")).toBe(true);
  }
});

test("inspect without an issuer describes and says that nothing was verified", async () => {
  const { code, out } = await run(
    "inspect",
    await issue("--scope", "ui:display:*", "--id", "cap-7"),
  );
  expect(code).toBe(0);
  expect(out).toContain("cap-7");
  expect(out).toContain("not verified");
});

test("a token names its principal, or a flag allows one without; it is valid only for that principal", async () => {
  const flags = ["--key", path("issuer.pem"), "--agent", "support", "--scope", "ui:display:*"];
  for (const session of [[], ["--session", "s1"]]) {
    await expect(run("issue", ...flags, ...session)).rejects.toMatchObject({
      code: "ERR_CAPABILITY_NO_PRINCIPAL",
      message: expect.stringContaining("Fix: "),
    });
  }
  const token = await issue("--scope", "ui:display:*", "--principal", "key:alice");
  const own = await run("inspect", token, "--issuer", path("issuer.pub"));
  expect([own.code, own.out]).toEqual([0, expect.stringContaining("key:alice")]);
  const other = ["--issuer", path("issuer.pub"), "--principal", "key:bob", "--json"];
  const { code, out } = await run("inspect", token, ...other);
  expect([code, JSON.parse(out)]).toEqual([
    1,
    expect.objectContaining({ status: "wrong_principal", principal: "key:alice" }),
  ]);
});

test("inspect answers no with exit code 1 and the reason", async () => {
  const token = await issue("--scope", "ui:display:*", "--session", "sess_01");
  const stranger = await run("inspect", token, "--issuer", keyName(holder.publicKey));
  expect(stranger).toMatchObject({ code: 1 });
  expect(stranger.out).toContain("capability verification failed: issuer is not trusted");
  const elsewhere = await run("inspect", token, "-i", path("issuer.pub"), "-s", "other", "--json");
  expect(elsewhere.code).toBe(1);
  expect(JSON.parse(elsewhere.out)).toMatchObject({ status: "wrong_session", subject: "support" });
});

test("a holder narrows a token, and only then is it valid", async () => {
  const token = await issue("--scope", "ui:*:*", "--holder", path("holder.jwk"), "--id", "cap-8");
  expect((await run("inspect", token, "--issuer", path("issuer.pub"))).code).toBe(1);
  const { out } = await run(
    "narrow",
    token,
    `--key=${path("holder.pem")}`,
    "--scope=ui:display:chat-window",
    "--expires=5m",
    "--max-events=2",
    "--session=sess_01",
    "--id=chat",
    "--json",
  );
  const narrowed = JSON.parse(out) as { token: string; claims: object };
  expect(narrowed.claims).toMatchObject({ jti: "cap-8/chat", max_events: 2, sid: "sess_01" });
  expect((await run("inspect", narrowed.token, "--issuer", path("issuer.pub"))).code).toBe(0);
});

test("narrowing refuses to widen, and names what", async () => {
  const token = await issue("--scope", "ui:display:*", "--holder", keyName(holder.publicKey));
  await expect(
    run("narrow", token, "--key", path("holder.pem"), "--scope", "ui:submit:*"),
  ).rejects.toMatchObject({ code: "ERR_CAPABILITY_WIDENS", facts: { field: "scope" } });
});

test("revoke writes once per id, and inspect reads it", async () => {
  const file = path("revocations.jsonl");
  const token = await issue("--scope", "ui:display:*", "--id", "cap-9");
  const first = await run("revoke", "cap-5", token, "--file", file, "--json");
  expect(JSON.parse(first.out)).toMatchObject({ revoked: ["cap-5", "cap-9"], already: [] });
  const second = await run("revoke", "cap-9", "--file", file);
  expect(second.out).toContain("already revoked  cap-9");
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(2);
  const verdict = await run("inspect", token, "-i", path("issuer.pub"), "-r", file, "--json");
  expect(JSON.parse(verdict.out)).toMatchObject({
    status: "revoked",
    reason: "capability has been revoked",
  });
});

test("revoke writes where the configuration says that the gateway reads", async () => {
  const folder = path("gateway");
  await runProgram("init", folder);
  const config = join(folder, "countersign.yaml");
  const { out } = await run("revoke", "cap-7", "--config", config, "--json");
  const file = join(folder, ".countersign", "revoked.jsonl");
  expect(JSON.parse(out)).toMatchObject({ file, revoked: ["cap-7"] });
  expect(readFileSync(file, "utf8")).toContain("cap-7");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("revoke reaches the database that gateways share, beside the file if one is named", async () => {
  const server = await startPostgres();
  try {
    const lines = [
      "agents: { main: { url: 'http://127.0.0.1:8000/' } }",
      `receipts: { store: "${server.url}" }`,
    ];
    const config = path("shared.yaml");
    writeFileSync(config, lines.join("\n"));
    const first = await run("revoke", "cap-1", "cap-2", "--config", config, "--json");
    expect(JSON.parse(first.out)).toEqual({
      database: "countersign.local/log",
      revoked: ["cap-1", "cap-2"],
      already: [],
    });
    writeFileSync(config, [...lines, "capabilities: { revocations: shared.jsonl }"].join("\n"));
    const second = await run("revoke", "cap-2", "--config", config);
    expect(second.out).toContain("every gateway");
    expect(readFileSync(path("shared.jsonl"), "utf8")).toContain("cap-2");
    expect((await run("revoke", "cap-2", "--config", config)).out).toContain("already revoked");
    const store = await openSharedRevocations({ url: server.url, name: "countersign.local/log" });
    expect(await store.readAfter(0)).toHaveLength(2);
    await store.close();
  } finally {
    await server.stop();
  }
}, 30_000);

test.runIf(process.getuid?.() === 0)(
  "a revocation file that root begins belongs to the owner of its folder",
  async () => {
    const folder = path("owned");
    mkdirSync(folder);
    chownSync(folder, 65_534, 65_534);
    await run("revoke", "cap-7", "--file", join(folder, "revoked.jsonl"));
    expect(statSync(join(folder, "revoked.jsonl"))).toMatchObject({ uid: 65_534, gid: 65_534 });
    expect(statSync(join(folder, "revoked.jsonl")).mode & 0o777).toBe(0o600);
  },
);

test("revoke refuses to guess which file a gateway reads", async () => {
  const config = path("without.yaml");
  writeFileSync(config, "agents:\n  main:\n    url: http://127.0.0.1:8000/\n");
  await expect(run("revoke", "cap-7", "--config", config)).rejects.toMatchObject({
    code: "ERR_CLI_NO_REVOCATIONS",
    message: expect.stringContaining("--file"),
  });
  await expect(run("revoke", "cap-7", "--config", path("absent.yaml"))).rejects.toMatchObject({
    code: "ERR_CLI_NO_CONFIG",
  });
  expect(existsSync("revocations.jsonl")).toBe(false);
});

test("revoke repairs a file without a last line ending and refuses one it cannot read", async () => {
  const file = path("torn.jsonl");
  writeFileSync(file, '{"capability_id":"a","revoked_at":1}');
  await run("revoke", "b", "--file", file);
  expect(readFileSync(file, "utf8").split("\n")).toHaveLength(3);
  writeFileSync(file, "nonsense\n");
  await expect(run("revoke", "c", "--file", file)).rejects.toMatchObject({
    code: "ERR_CAPABILITY_REVOCATION_LINE",
  });
});

test("no output shows a private key, and a missing one is said to be missing", async () => {
  const seed = exportPrivateKeyPem(issuer).split("\n")[1] ?? "";
  const { out } = await run(
    "issue",
    `--key=${path("issuer.pem")}`,
    "--agent=a",
    "--scope=ui:display:*",
    "--for-unowned-session",
    "--json",
  );
  expect(out).not.toContain(seed.slice(-32));
  await expect(
    run("issue", "--agent", "a", "--scope", "ui:display:*", "--principal", "key:a"),
  ).rejects.toMatchObject({
    code: "ERR_CAPABILITY_NO_KEY",
  });
});

test("every verb has an example", async () => {
  const program = new Command("countersign");
  registerCapability(program);
  for (const verb of program.commands[0]?.commands ?? []) {
    let help = "";
    verb.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toContain(`$ countersign capability ${verb.name()}`);
    expect(help).toContain("--json");
  }
});
