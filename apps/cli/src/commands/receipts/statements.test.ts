import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSampleGateway } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

const PROGRAM = fileURLToPath(
  new URL(
    "../../../../../packages/receipts/third-party/verify_statement.py",
    import.meta.url,
  ),
);
const SIZE = 300;
let gateway: SampleGateway;
let logKey = "";
let key = "";
beforeAll(async () => {
  gateway = createSampleGateway();
  const made = JSON.parse((await gateway.run("keys", "new", "--json")).out);
  logKey = made.log;
  key = made.receipts;
  await gateway.append(0, 150);
  await gateway.run("keys", "new", "--rotate");
  await gateway.append(150, SIZE);
  await gateway.run("receipts", "export", gateway.path("log"));
  await gateway.run("receipts", "export", gateway.path("all"), "--cose");
});
afterAll(() => gateway.remove());

const trust = (): string[] => ["--log-key", logKey, "--key", key];
const python = (...args: string[]): string =>
  execFileSync("python3", [PROGRAM, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const filesOf = (directory: string): string[] =>
  readdirSync(gateway.path(`${directory}/statements`)).map((name) =>
    gateway.path(`${directory}/statements/${name}`),
  );

test("an export of statements has each entry of the log, over a rotation of the receipt key, and verifies", async () => {
  expect(filesOf("all")).toHaveLength(SIZE);
  const { code, out } = await gateway.run("receipts", "verify", gateway.path("all"), ...trust());
  expect(out).toContain("The issuer signed the statement and the entry in it  300 statements");
  expect(out).toContain("The proof leads from the entry to the signed root  300 statements");
  expect(out).toContain("valid, and signed by keys you trust");
  expect(code).toBe(0);
});

test("the verifier in Python accepts every statement of the export and refuses a changed one", () => {
  const keys = ["--keys", gateway.path("all/keys.cbor")];
  const out = python(...keys, ...filesOf("all").slice(0, 40));
  expect(out.match(/^held {4}/gmu)).toHaveLength(40);
  const bytes = readFileSync(gateway.path("all/statements/7.scitt"));
  const at = bytes.indexOf('"allowed":true') + 12;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(gateway.path("changed.scitt"), bytes);
  expect(() => python(...keys, gateway.path("changed.scitt"))).toThrow("the issuer's signature");
});
