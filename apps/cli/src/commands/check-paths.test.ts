import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../testing/run-program.js";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "countersign-cli-paths-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const BASE =
  'agents: { a: { url: "http://127.0.0.1:9/" } }\nlisten: { port: 0 }\ncontrol: { port: 0 }\n';
const JWT = "access: { mode: jwt, jwt: { issuer: https://i.example/, audience: a, jwks: PATH } }\n";

/** Every path that a start reads as a file: the part that names it, where it is, and the configuration. */
const PATHS = [
  ["policy", "policy.yaml", "policy: PATH\n"],
  ["policy tests", "policy.test.yaml", "policy: good/policy.yaml\n"],
  ["revocations", "revoked.jsonl", "capabilities: { revocations: PATH }\n"],
  ["access", "api-keys.txt", "access: { mode: keys, keys: { file: PATH } }\n"],
  ["access", "jwks.json", JWT],
  ["tls", "gateway.pem", "listen: { port: 0, tls: { cert: PATH, key: PATH } }\n"],
  ["webhook", "secret.txt", "webhook: { url: https://siem.example/, secret_file: PATH }\n"],
  ["keys", "keys/receipts.pem", "keys: { directory: FOLDER }\n"],
  ["keys", "keys/issuer.pem", "keys: { directory: FOLDER }\n"],
  ["keys", "keys/issuers-retired.txt", "keys: { directory: FOLDER }\n"],
  ["keys", "keys/keys.jsonl", "keys: { directory: FOLDER }\n"],
  ["keys", "keys/admin-token.sha256", "keys: { directory: FOLDER }\n"],
  ["keys", "keys/last-checkpoint", "keys: { directory: FOLDER }\n"],
] as const;

const KINDS = [
  ["a folder", async (path: string) => void (await mkdir(path, { recursive: true }))],
  [
    "a pipe",
    async (path: string) => {
      await mkdir(dirname(path), { recursive: true });
      execFileSync("mkfifo", [path]);
    },
  ],
] as const;

const cases = PATHS.flatMap(([part, name, text]) =>
  KINDS.map(([kind, create]) => ({ part, name, text, kind, create })),
);

test.each(cases)("--check refuses $name that is $kind", async ({ part, name, text, create }) => {
  const folder = await mkdtemp(join(home, "case-"));
  await mkdir(join(folder, "good"));
  await writeFile(join(folder, "good/policy.yaml"), 'hushspec: "0.1.0"\nname: a\nrules: {}\n');
  const path = part === "policy tests" ? join(folder, "good", name) : join(folder, name);
  await create(path);
  const file = join(folder, "countersign.yaml");
  const filled = text.replaceAll("PATH", path).replaceAll("FOLDER", dirname(path));
  const base = text.startsWith("listen") ? BASE.replace("listen: { port: 0 }\n", "") : BASE;
  await writeFile(file, base + filled);
  const { code, out } = await runProgram("serve", "--config", file, "--check", "--json");
  const { findings } = JSON.parse(out) as {
    findings: { part: string; ok: boolean; says: string }[];
  };
  const found = findings.filter(({ ok }) => !ok);
  expect(found, out).toEqual([{ part, ok: false, says: expect.stringContaining(path) }]);
  expect(code).toBe(1);
});

test("--check accepts a revocation file in a folder that the first start makes", async () => {
  const folder = await mkdtemp(join(home, "case-"));
  const file = join(folder, "countersign.yaml");
  await writeFile(file, `${BASE}capabilities: { revocations: .countersign/revoked.jsonl }\n`);
  expect((await runProgram("serve", "--config", file, "--check")).code).toBe(0);
});

test("--check refuses a revocation file whose folder is missing, and a configuration that is a folder", async () => {
  const folder = await mkdtemp(join(home, "case-"));
  const file = join(folder, "countersign.yaml");
  await writeFile(file, `${BASE}capabilities: { revocations: missing/revoked.jsonl }\n`);
  const { code, out } = await runProgram("serve", "--config", file, "--check");
  expect(out).toContain("failed revocations");
  expect(code).toBe(1);
  await expect(runProgram("serve", "--config", folder, "--check")).rejects.toMatchObject({
    code: "ERR_FILE_KIND",
  });
});
