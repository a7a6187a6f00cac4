import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig, startGateway } from "@countersign/gateway";
import type { RunningGateway } from "@countersign/gateway";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  openssl,
  startAuthority,
} from "../../../../../packages/receipts/src/testing/timestamp-authority.js";
import { specCosignatureTimes } from "../../../../../packages/receipts/src/testing/spec-oracle.js";
import { runProgram } from "../../testing/run-program.js";
import { sampleDraft } from "../receipts/testing/sample-gateway.js";

const BIN = fileURLToPath(new URL("../../../bin/countersign.js", import.meta.url));

let folder: string;
let children: ChildProcess[] = [];
let running: RunningGateway[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-witness-"));
});
afterEach(async () => {
  for (const gateway of running) await gateway.close();
  for (const child of children) {
    const ended = new Promise((resolve) => child.once("close", resolve));
    if (child.exitCode === null && child.kill("SIGTERM")) await ended;
  }
  running = [];
  children = [];
  await rm(folder, { recursive: true, force: true });
});

type Started = { vkey: string; url: string; directory: string };

/** Makes a witness with the command, and starts it with the command. */
async function startWitness(name: string): Promise<Started> {
  const directory = join(folder, name);
  const made = await runProgram(
    "witness",
    "init",
    directory,
    "--name",
    `w.example/${name}`,
    "--json",
  );
  const { vkey } = JSON.parse(made.out) as { vkey: string };
  return { vkey, directory, url: "" };
}

async function serve(witness: Started): Promise<Started> {
  const child = spawn(
    process.execPath,
    [BIN, "witness", "serve", witness.directory, "--port", "0", "--json"],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  children.push(child);
  const port = await new Promise<number>((resolve, reject) => {
    let text = "";
    const read = (piece: Buffer): void => {
      text += piece.toString();
      const found = /"port":(\d+)/u.exec(text)?.[1];
      if (found !== undefined) resolve(Number(found));
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("close", () => reject(new Error(text)));
  });
  return { ...witness, url: `http://127.0.0.1:${port}/` };
}

/** Starts a gateway with what is written below `receipts`. */
async function start(receipts: string, data = "data"): Promise<RunningGateway> {
  const text =
    "agents: { a: { url: 'http://127.0.0.1:1/' } }\nlisten: { port: 0 }\ncontrol: { port: 0 }\n" +
    `keys: { directory: ${data}/keys }\nreceipts:\n  origin: gw.example/log\n  store: sqlite:${join(folder, data)}/receipts\n${receipts}`;
  await writeFile(join(folder, "countersign.yaml"), text);
  const file = join(folder, "countersign.yaml");
  const gateway = await startGateway(loadConfig(text, { file, environment: {} }));
  running.push(gateway);
  return gateway;
}

async function stop(gateway: RunningGateway): Promise<void> {
  running = running.filter((one) => one !== gateway);
  await gateway.close();
}

const witnessesOf = (threshold: number, witnesses: readonly Started[]): string =>
  `  witnesses:\n    threshold: ${threshold}\n    interval: 0.2\n    list:\n` +
  witnesses.map(({ vkey, url }) => `      - { vkey: "${vkey}", url: "${url}" }\n`).join("");

const append = (gateway: RunningGateway, from: number, to: number): Promise<unknown> =>
  gateway.receipts.log.appendAll(
    Array.from({ length: to - from }, (_, index) => sampleDraft(from + index)),
  );

const untilWitnessed = (gateway: RunningGateway, size: number): Promise<void> =>
  vi.waitFor(
    () =>
      expect(gateway.receipts.attesting.witnessing?.witnessed).toMatchObject({
        size,
        isEnough: true,
      }),
    { timeout: 10_000, interval: 50 },
  );

/** A gateway whose log two running witnesses accept. */
async function setUp(): Promise<{ witnesses: Started[]; logKey: string; token: string }> {
  const gateway = await start("");
  const { logKey } = gateway.receipts;
  const token = gateway.freshAdminToken ?? "";
  await stop(gateway);
  const witnesses: Started[] = [];
  for (const name of ["w1", "w2"]) {
    const made = await startWitness(name);
    await appendFile(join(made.directory, "logs"), `${logKey} # our gateway\n`);
    witnesses.push(await serve(made));
  }
  return { witnesses, logKey, token };
}

const verify = (...more: string[]): Promise<{ code: number; out: string }> =>
  runProgram("receipts", "verify", ...more);
const store = (): string[] => ["--config", join(folder, "countersign.yaml")];

test("a gateway has its log cosigned; receipts verify demands the threshold of the store, of an export and of a proof", async () => {
  const { witnesses, logKey, token } = await setUp();
  const gateway = await start(witnessesOf(2, witnesses));
  await append(gateway, 0, 300);
  await untilWitnessed(gateway, 300);
  const trusted = witnesses.flatMap(({ vkey }) => ["--witness", vkey]);
  const whole = await verify(...store(), "--log-key", logKey, ...trusted);
  expect([whole.code, whole.out]).toEqual([0, expect.stringContaining("size 300: 2 of 2 trusted")]);
  const shown = await runProgram("receipts", "show", "3", ...store());
  expect(shown.out).toContain("witnessed by 2 of 2 (w.example/w1, w.example/w2)");
  const listed = await runProgram("receipts", "list", "--json", "--limit", "1", ...store());
  expect(listed.out).toContain('"witnessed"');
  const directory = join(folder, "audit");
  await runProgram("receipts", "export", directory, "--witnessed", "--proof", "7", ...store());
  const note = await readFile(join(directory, "checkpoint"), "utf8");
  for (const { vkey } of witnesses) expect(specCosignatureTimes(note, vkey).length).toBe(1);
  const keys = join(folder, "witness-keys");
  await writeFile(keys, `# ours\n${witnesses.map(({ vkey }) => `${vkey}\n`).join("")}`);
  const many = ["--log-key", logKey, "--witness-file", keys, "--witness-threshold", "2"];
  const asked = witnesses.flatMap(({ url }) => ["--witness-url", url]);
  expect((await verify(directory, ...many, ...asked)).code).toBe(0);
  const entry = join(folder, "entry.json");
  await writeFile(entry, (await runProgram("receipts", "show", "7", "--json", ...store())).out);
  const proof = ["--proof", join(directory, "proofs", "7.tlog-proof")];
  expect((await verify(entry, ...proof, ...many)).code).toBe(0);
  const stranger = await startWitness("stranger");
  const alone = await verify(directory, "--log-key", logKey, "--witness", stranger.vkey);
  expect([alone.code, alone.out]).toEqual([1, expect.stringContaining("0 of 1 trusted, 1 needed")]);
  const get = (path: string): Promise<Response> =>
    fetch(`${gateway.controlUrl}${path}`, { headers: { authorization: `Bearer ${token}` } });
  expect(await (await get("/v1/checkpoint/witnessed")).text()).toBe(note);
  const proven = await (await get("/v1/receipts/7/proof")).text();
  expect(proven.endsWith(note)).toBe(true);
  expect(await (await get("/v1/status")).json()).toMatchObject({
    log: {
      witnesses: {
        threshold: 2,
        newest: { size: 300, names: ["w.example/w1", "w.example/w2"], enough: true },
        late: false,
      },
    },
  });
  const metrics = await (await get("/metrics")).text();
  expect(metrics).toContain("countersign_witnessed_entries 300");
  expect(metrics).toContain('countersign_witness_failing{witness="w.example/w1"} 0');
}, 120_000);

test("a log that is rolled back with its remembered head, checkpoint and cosignatures is found by verification with a witness and at the start", async () => {
  const { witnesses, logKey } = await setUp();
  const config = witnessesOf(2, witnesses);
  const first = await start(config);
  await append(first, 0, 10);
  await untilWitnessed(first, 10);
  await stop(first);
  await cp(join(folder, "data"), join(folder, "older"), { recursive: true });
  const second = await start(config);
  await append(second, 10, 25);
  await untilWitnessed(second, 25);
  await stop(second);
  await rm(join(folder, "data"), { recursive: true });
  await cp(join(folder, "older"), join(folder, "data"), { recursive: true });
  // Without a witness nothing contradicts the older files.
  expect((await verify(...store(), "--log-key", logKey)).code).toBe(0);
  const url = witnesses[0]?.url ?? "";
  const asked = await verify(...store(), "--log-key", logKey, "--witness-url", url);
  expect([asked.code, asked.out]).toEqual([
    1,
    expect.stringContaining("it cosigned 25 entries, and this log has 10: it was rolled back"),
  ]);
  await expect(start(config)).rejects.toMatchObject({
    code: "ERR_WITNESS_LOG_CHANGED",
    facts: { size: 25 },
  });
  const checked = await runProgram("serve", "--check", "--json", ...store());
  expect([checked.code, checked.out]).toEqual([
    1,
    expect.stringContaining("has cosigned 25 entries of this log, and the store does not hold"),
  ]);
  // The operator decides not to ask: the gateway starts, and the witnesses do not cosign.
  const third = await start(`${config}    at_start: skip\n`);
  await append(third, 10, 12);
  const { witnessing } = third.receipts.attesting;
  await vi.waitFor(
    () => expect(witnessing?.status().map(({ claim }) => claim?.isProven)).toEqual([true, true]),
    { timeout: 10_000 },
  );
  expect(witnessing?.witnessed?.size).toBe(10);
}, 120_000);

test("two logs of one origin and one size: the second is not cosigned, and its export does not verify", async () => {
  const { witnesses, logKey } = await setUp();
  const config = witnessesOf(1, witnesses);
  await cp(join(folder, "data"), join(folder, "other"), { recursive: true });
  const one = await start(config);
  await append(one, 0, 20);
  await untilWitnessed(one, 20);
  await stop(one);
  const other = await start(`${config}    at_start: skip\n`, "other");
  await append(other, 100, 120);
  const { witnessing } = other.receipts.attesting;
  await vi.waitFor(() => expect(witnessing?.status()[0]?.claim).toMatchObject({ size: 20 }), {
    timeout: 10_000,
  });
  expect(witnessing?.witnessed).toBeUndefined();
  await stop(other);
  const [{ vkey, url } = { vkey: "", url: "" }] = witnesses;
  const result = await verify(
    ...store(),
    "--log-key",
    logKey,
    "--witness",
    vkey,
    "--witness-url",
    url,
  );
  expect([result.code, result.out]).toEqual([
    1,
    expect.stringContaining("this log has others: it was replaced, or shows you what it does not"),
  ]);
  expect(result.out).toContain("0 of 1 trusted, 1 needed");
}, 120_000);

test("serve --check names the witnesses that cosigned, those that do not respond, and certificates that cannot be read", async () => {
  const { witnesses } = await setUp();
  const away: Started = { ...(await startWitness("away")), url: "http://127.0.0.1:9/" };
  const config = witnessesOf(1, [...witnesses, away]);
  const gateway = await start(config);
  await append(gateway, 0, 10);
  await untilWitnessed(gateway, 10);
  await stop(gateway);
  const check = (): Promise<{ code: number; out: string }> =>
    runProgram("serve", "--check", ...store());
  const complete = await check();
  expect([complete.code, complete.out]).toEqual([
    0,
    expect.stringContaining("3 configured, 1 must cosign; w.example/w1 cosigned 10 entries"),
  ]);
  expect(complete.out).toMatch(/w\.example\/away has no checkpoint to compare: not reachable/u);
  const file = join(folder, "countersign.yaml");
  await writeFile(join(folder, "ca.pem"), "no certificate");
  await appendFile(file, '  timestamps: { url: "http://127.0.0.1:9/", ca: ca.pem }\n');
  const broken = await check();
  expect([broken.code, broken.out]).toEqual([1, expect.stringContaining("failed timestamps:")]);
}, 120_000);

test("checkpoints are dated; receipts verify --tsa-ca and openssl verify the timestamp of an export", async () => {
  await mkdir(join(folder, "tsa"));
  const authority = await startAuthority(join(folder, "tsa"));
  const config = `  timestamps: { url: "${authority.url}", ca: tsa/ca.pem, interval: 1 }\n`;
  const gateway = await start(config);
  await append(gateway, 0, 5);
  const { timestamping } = gateway.receipts.attesting;
  await vi.waitFor(() => expect(timestamping?.newest?.size).toBe(5), { timeout: 15_000 });
  const directory = join(folder, "dated");
  await runProgram("receipts", "export", directory, ...store());
  const dated = await verify(directory, "--tsa-ca", authority.caFile);
  expect([dated.code, dated.out]).toEqual([
    0,
    expect.stringContaining("entries 0 to 4 existed at"),
  ]);
  const stranger = join(folder, "stranger");
  await mkdir(stranger);
  const other = await startAuthority(stranger);
  expect((await verify(directory, "--tsa-ca", other.caFile)).code).toBe(1);
  const note = await readFile(join(directory, "checkpoint.timestamped"), "utf8");
  await writeFile(join(folder, "text"), note.slice(0, note.indexOf("\n\n") + 1));
  const verified = await openssl(
    ["ts", "-verify", "-data", join(folder, "text")],
    ["-in", join(directory, "checkpoint.tsr"), "-CAfile", authority.caFile],
  );
  expect(verified).toContain("Verification: OK");
  await other.close();
  await authority.close();
}, 120_000);

test("witness init, show and serve --check say what is wrong: a second init, a lost state, a line that is no log", async () => {
  const { directory, vkey } = await startWitness("w1");
  await expect(startWitness("w1")).rejects.toMatchObject({ code: "ERR_CLI_WITNESS_EXISTS" });
  expect((await runProgram("witness", "show", directory)).out).toContain(`- vkey: ${vkey}`);
  await appendFile(join(directory, "logs"), `${vkey}\n`);
  await expect(runProgram("witness", "serve", directory, "--check")).rejects.toMatchObject({
    code: "ERR_CLI_WITNESS_LOGS",
    facts: { line: 2 },
  });
  await expect(
    runProgram("witness", "init", join(folder, "w2"), "--name", "https://w.example/w2"),
  ).rejects.toMatchObject({ message: expect.stringContaining("without https://") });
  await rm(join(directory, "state"), { recursive: true });
  await expect(runProgram("witness", "serve", directory, "--check")).rejects.toMatchObject({
    code: "ERR_CLI_NO_WITNESS",
  });
});
