import {
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lchownSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSampleGateway } from "../receipts/testing/sample-gateway.js";
import type { SampleGateway } from "../receipts/testing/sample-gateway.js";

let gateway: SampleGateway;
beforeEach(() => {
  gateway = createSampleGateway();
});
afterEach(() => gateway.remove());

type Keys = {
  receipts: string;
  firstReceipts: string;
  log: string;
  keys: { key: string; firstEntry: number }[];
};

async function keys(...args: string[]): Promise<Keys> {
  return JSON.parse((await gateway.run("keys", ...args, "--json")).out);
}

test("keys are made once, readable by their owner only, and shown without being made", async () => {
  const none = await gateway.run("keys", "show");
  expect(none).toMatchObject({ code: 2, out: expect.stringContaining("countersign keys new") });
  expect(existsSync(gateway.path("keys"))).toBe(false);
  const made = await keys("new");
  expect(await keys("show")).toEqual(made);
  expect(statSync(gateway.path("keys/receipts.pem")).mode & 0o077).toBe(0);
  const again = await gateway.run("keys", "new");
  expect(again).toMatchObject({ code: 2, out: expect.stringContaining("--rotate") });
  const shown = await gateway.run("keys", "show");
  expect(shown.out).toContain(`--log-key "${made.log}" --key ${made.receipts}`);
});

test("after rotations an export verifies with the first key as trusted key, and only so", async () => {
  const first = await keys("new");
  await gateway.append(0, 10);
  const second = await keys("new", "--rotate");
  await gateway.append(10, 25);
  const third = await keys("new", "--rotate");
  await gateway.append(25, 40);
  expect(third.keys.map(({ firstEntry }) => firstEntry)).toEqual([0, 10, 25]);
  expect(third.firstReceipts).toBe(first.receipts);
  expect(new Set([first, second, third].map(({ receipts }) => receipts)).size).toBe(3);
  const directory = gateway.path("export");
  expect((await gateway.run("receipts", "export", directory)).code).toBe(0);
  const verify = ["receipts", "verify", directory, "--log-key", first.log];
  const trusted = await gateway.run(...verify, "--key", first.receipts);
  expect(trusted).toMatchObject({ code: 0, out: expect.stringContaining("keys you trust") });
  expect(trusted.out).toContain("3 keys");
  // Trust goes forward only: a later key says nothing about what was signed before it.
  expect((await gateway.run(...verify, "--key", second.receipts)).code).toBe(1);
  const entry = gateway.path("entry.json");
  writeFileSync(entry, (await gateway.run("receipts", "show", "30", "--json")).out);
  const single = ["receipts", "verify", entry, "--key", first.receipts];
  expect((await gateway.run(...single)).code).toBe(1);
  const history = gateway.path("export/keys.jsonl");
  expect((await gateway.run(...single, "--key-history", history)).code).toBe(0);
  const broken = gateway.path("broken.jsonl");
  const lines = readFileSync(history, "utf8").split("\n");
  writeFileSync(broken, `${[lines[0], lines[2]].join("\n")}\n`);
  expect((await gateway.run(...single, "--key-history", broken)).code).toBe(2);
});

test("a key is not rotated under a gateway that runs", async () => {
  const before = await keys("new");
  const log = await gateway.open();
  const refused = await gateway.run("keys", "new", "--rotate");
  expect(refused).toMatchObject({ code: 2, out: expect.stringContaining("ERR_CLI_GATEWAY_RUNS") });
  await log.close();
  expect(await keys("show")).toEqual(before);
});

test("an older copy of the keys is not rotated, and stays as it was", async () => {
  await keys("new");
  await gateway.append(0, 3);
  const folder = gateway.path("keys");
  cpSync(folder, gateway.path("older"), { recursive: true });
  await keys("new", "--rotate");
  rmSync(folder, { recursive: true });
  cpSync(gateway.path("older"), folder, { recursive: true });
  const before = await keys("show");
  const refused = await gateway.run("keys", "new", "--rotate");
  expect(refused).toMatchObject({ code: 2, out: expect.stringContaining("ERR_KEYS_HISTORY") });
  expect(await keys("show")).toEqual(before);
  expect(readdirSync(folder)).toEqual(readdirSync(gateway.path("older")));
});

test("a rotation that was interrupted at any step is finished by the next one", async () => {
  const first = await keys("new");
  await gateway.append(0, 5);
  const inUse = gateway.path("keys/receipts.pem");
  const next = gateway.path("keys/receipts-next.pem");
  const old = gateway.path("old.pem");
  copyFileSync(inUse, old);
  const second = await keys("new", "--rotate");
  // As if it had ended before the new key was put to use.
  renameSync(inUse, next);
  copyFileSync(old, inUse);
  expect(await keys("new", "--rotate")).toEqual(second);
  await gateway.append(5, 9);
  const { code } = await gateway.run(
    "receipts",
    "verify",
    "--key",
    first.receipts,
    "--log-key",
    first.log,
  );
  expect(code).toBe(0);
});

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const everything = (): string[] =>
  readdirSync(gateway.path(""), { recursive: true, encoding: "utf8" }).map(gateway.path);

test.runIf(isRoot)("keys that root makes belong to the owner of their folder", async () => {
  chownSync(gateway.path(""), NOBODY, NOBODY);
  await keys("new");
  expect(everything().filter((file) => statSync(file).uid !== NOBODY)).toEqual([]);
});

test.runIf(isRoot)(
  "a rotation by root leaves nothing that the gateway's user cannot open",
  async () => {
    await keys("new");
    await gateway.append(0, 3);
    for (const file of [gateway.path(""), ...everything()]) lchownSync(file, NOBODY, NOBODY);
    await keys("new", "--rotate");
    // A gateway compares its keys with these: it does not start with an older copy.
    const history = (place: string): string => readFileSync(gateway.path(place), "utf8");
    expect(history("store/keys.jsonl")).toBe(history("keys/keys.jsonl"));
    expect(everything().filter((file) => statSync(file).uid !== NOBODY)).toEqual([]);
    for (const name of ["receipts.pem", "receipts-retired-0.pem"]) {
      expect(statSync(gateway.path(`keys/${name}`)).mode & 0o777).toBe(0o600);
    }
  },
);

test("without keys there is nothing to rotate, and nothing is made", async () => {
  expect((await gateway.run("keys", "new", "--rotate")).code).toBe(2);
  expect(existsSync(gateway.path("keys"))).toBe(false);
});
