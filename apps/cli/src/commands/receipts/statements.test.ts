import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  hasPython,
  runPython,
} from "../../../../../packages/receipts/src/testing/python-verifier.js";
import { createSampleGateway } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

const SIZE = 300;
const isPythonHere = hasPython("statements.test.ts");
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

test.skipIf(!isPythonHere)(
  "the verifier in Python accepts statements of the export and refuses a changed one",
  async () => {
    const keys = ["--keys", gateway.path("all/keys.cbor")];
    const { output } = await runPython(...keys, ...filesOf("all").slice(0, 40));
    expect(output.match(/^held {4}/gmu)).toHaveLength(40);
    const bytes = readFileSync(gateway.path("all/statements/7.scitt"));
    const at = bytes.indexOf('"allowed":true') + 12;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(gateway.path("changed.scitt"), bytes);
    const [good = ""] = filesOf("all");
    expect(await runPython(...keys, gateway.path("changed.scitt"), good)).toEqual({
      code: 1,
      output: expect.stringMatching(
        /^held {4}\S+: entry 0[^]*FAILED {2}\S+changed\.scitt: the issuer's signature is not valid$/mu,
      ),
    });
    expect(await runPython(...keys)).toEqual({
      code: 2,
      output: expect.stringContaining("nothing to verify"),
    });
  },
);

const verify = (...args: string[]): Promise<{ code: number; out: string }> =>
  gateway.run("receipts", "verify", ...args);

test("one statement verifies alone with the keys that the auditor named, and only with them", async () => {
  const file = gateway.path("all/statements/17.scitt");
  const history = ["--key-history", gateway.path("all/keys.jsonl")];
  const good = await verify(file, ...trust(), ...history);
  expect(good.out).toContain("entry 17 of 300, root signed by countersign.local/log");
  expect(good.out).toContain("valid, and signed by keys you trust");
  expect(good.code).toBe(0);
  const without = await verify(file, "--log-key", logKey);
  expect(without).toEqual({ code: 2, out: expect.stringContaining("Fix: add --key") });
  const stranger = `ed25519:${"00".repeat(31)}05`;
  const other = await verify(file, "--log-key", logKey, "--key", stranger);
  expect(other.out).toContain("was not given");
  expect(other.code).toBe(1);
  const bytes = readFileSync(file);
  bytes[0] = 0x7b;
  writeFileSync(gateway.path("untagged.scitt"), bytes);
  expect(await verify(gateway.path("untagged.scitt"), ...trust())).toMatchObject({
    code: 1,
    out: expect.stringContaining("FAILED  The statement is one COSE_Sign1 in deterministic CBOR"),
  });
  const json = JSON.parse((await verify(file, ...trust(), ...history, "--json")).out);
  expect(json).toMatchObject({ valid: true, signerTrusted: true });
});

test("filters and a range choose the entries; the manifest says which", async () => {
  const some = gateway.path("blocked");
  const { out } = await gateway.run("receipts", "export", some, "--cose", "--blocked", "--json");
  expect(JSON.parse(out)).toEqual({ directory: some, statements: 60, size: 300 });
  const names = readdirSync(gateway.path("blocked/statements"));
  expect(names.every((name) => Number.parseInt(name, 10) % 5 === 4)).toBe(true);
  expect((await verify(some, ...trust())).code).toBe(0);
  const range = gateway.path("range");
  await gateway.run("receipts", "export", range, "--cose", "--entries", "250-1000");
  expect(readdirSync(gateway.path("range/statements"))).toHaveLength(50);
  expect((await verify(range, ...trust())).code).toBe(0);
  const none = await gateway.run(
    "receipts",
    "export",
    gateway.path("none"),
    "--cose",
    "--run",
    "x",
  );
  expect(none.out).toContain("no entry below the last checkpoint matches the options");
});

test.each<[string, (directory: string) => void, string]>([
  [
    "a removed statement",
    (directory) => rmSync(`${directory}/statements/9.scitt`),
    "first at 9: the statement is missing",
  ],
  [
    "two swapped statements",
    (directory) => {
      const [one, two] = [`${directory}/statements/8.scitt`, `${directory}/statements/11.scitt`];
      const bytes = readFileSync(one);
      writeFileSync(one, readFileSync(two));
      writeFileSync(two, bytes);
    },
    "first at 8: the file is of entry 11",
  ],
  [
    "a removed manifest",
    (directory) => rmSync(`${directory}/manifest.scitt`),
    "manifest.scitt is missing",
  ],
  [
    "the manifest of another export",
    (directory) =>
      writeFileSync(`${directory}/manifest.scitt`, readFileSync(`${directory}/statements/1.scitt`)),
    "the content type is not application/vnd.countersign.manifest+json",
  ],
  [
    "a key that was put first in the key set",
    (directory) => {
      const bytes = readFileSync(`${directory}/keys.cbor`);
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      writeFileSync(`${directory}/keys.cbor`, bytes);
    },
    "FAILED  The key set",
  ],
])("%s is refused", async (_, change, named) => {
  const bad = gateway.path("bad");
  await cp(gateway.path("all"), bad, { recursive: true });
  change(bad);
  const { code, out } = await verify(bad, ...trust());
  rmSync(bad, { recursive: true });
  expect(out).toContain(named);
  expect(code).toBe(1);
});

test("flags of one form of the export are refused for another", async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, out } = await gateway.run("receipts", "export", ...args);
    expect(code).toBe(2);
    return out;
  };
  const name = gateway.path("never");
  expect(await refused(name, "--blocked")).toContain("Fix: add --cose");
  expect(await refused(name, "--cose", "--proof", "1")).toContain(
    "a statement has its proof inside",
  );
  expect(await refused("--in-toto", name)).toContain("Fix: add --run");
  expect(await refused("--in-toto", name, "--run", "r", "--blocked")).toContain(
    "--run and --thread",
  );
  expect(await refused()).toContain("Fix: name a new one");
  expect(await refused(name, "--cose", "--entries", "9-1")).toContain("100-199");
  const older = await verify(gateway.path("all"), "--older", gateway.path("log/checkpoint"));
  expect(older).toEqual({ code: 2, out: expect.stringContaining("without --cose") });
});

test("a run is one statement: it verifies alone, in the log, and in statements", async () => {
  const file = gateway.path("run_3.json");
  const several = await gateway.run("receipts", "export", "--run", "run_3", "--in-toto", file);
  expect(several.out).toContain("Fix: add --thread");
  const run = ["--run", "run_3", "--thread", "thread_0"];
  const { out } = await gateway.run("receipts", "export", ...run, "--in-toto", file);
  expect(out).toContain("statement about 2 entries of run run_3");
  const alone = await verify(file, "--log-key", logKey);
  expect(alone.out).toContain("signed by countersign.local/log");
  expect(alone.code).toBe(0);
  const inLog = await verify(file, ...trust(), "--against", gateway.path("log"));
  expect(inLog.out).toContain("hash to the transcript of the statement");
  expect(inLog.code).toBe(0);
  const statements = gateway.path("run-statements");
  await gateway.run("receipts", "export", statements, "--cose", ...run);
  const inStatements = await verify(file, ...trust(), "--against", statements);
  expect(inStatements.out).toContain("hash to the transcript of the statement");
  expect(inStatements.code).toBe(0);
  // The statements of another run do not have this transcript.
  const rest = await verify(file, ...trust(), "--against", gateway.path("blocked"));
  expect(rest).toEqual({ code: 1, out: expect.stringContaining("there is no entry of the run") });
});

test.skipIf(!isPythonHere)(
  "the verifier in Python hashes the entries of a run to its transcript",
  async () => {
    const [file, statements] = [gateway.path("run_7.json"), gateway.path("run-7")];
    const run = ["--run", "run_7", "--thread", "thread_2"];
    await gateway.run("receipts", "export", ...run, "--in-toto", file);
    await gateway.run("receipts", "export", statements, "--cose", ...run);
    const keys = ["--keys", `${statements}/keys.cbor`, "--log-key", logKey];
    const files = filesOf("run-7");
    expect(await runPython(...keys, "--run", file, ...files)).toEqual({
      code: 0,
      output: expect.stringMatching(/run\/run_7, 3 entries, transcript [0-9a-f]{64}/u),
    });
    expect(await runPython(...keys, "--run", file, ...files.slice(1))).toEqual({
      code: 1,
      output: expect.stringContaining("it is about 3 entries, and the statements have 2 of them"),
    });
  },
);

test("a statement about a run that says something else than the log is refused", async () => {
  const file = gateway.path("run_5.json");
  const run = ["--run", "run_5", "--thread", "thread_1"];
  await gateway.run("receipts", "export", ...run, "--in-toto", file);
  const text = readFileSync(file, "utf8");
  const { payload, ...rest } = JSON.parse(text);
  const told = Buffer.from(payload, "base64")
    .toString("utf8")
    .replace('"blocked":0', '"blocked":1');
  const changed = { payload: Buffer.from(told).toString("base64"), ...rest };
  const { signatures, ...others } = changed;
  writeFileSync(file, JSON.stringify({ ...others, signatures }));
  const { code, out } = await verify(file, "--log-key", logKey);
  expect(out).toContain("the signature is not valid");
  expect(code).toBe(1);
});
