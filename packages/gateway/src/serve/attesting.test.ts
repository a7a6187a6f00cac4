import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSigner, generateKey } from "@countersign/core/sign";
import { createNoteKey, encodeVkey, NOTE_COSIGNATURE, parseVkey } from "@countersign/receipts";
import { sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listenAt, startWitness } from "../../../receipts/src/testing/running-witness.js";
import { loadConfig } from "../config/load.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { post } from "../testing/transports.js";

let folder: string;
let served: Served | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-attesting-"));
});
afterEach(async () => {
  await served?.stop();
  served = undefined;
  await rm(folder, { recursive: true, force: true });
});

const talking: FakeScript = ({ body }) => ({
  pieces: [inRun(idsOf(body), text("m1", "hello")).map(sseFrame).join("")],
});
const LOG = "gw.example.com/log1+f76839f9+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
const W1 = "witness.example.com/w1+6befd672+BEOnLnFEAXYt9mtowm373yaCquyfJHTspGE+QkoPuv08";
const load = (witnesses: string) =>
  loadConfig(`agents: { a: { url: http://h/ } }\nreceipts:\n  witnesses:\n${witnesses}`, {
    file: join(folder, "countersign.yaml"),
    environment: {},
  }).receipts.witnesses;

test("witnesses have defaults, and every mistake has its line and column", () => {
  expect(load(`    threshold: 1\n    list: [{ vkey: "${W1}", url: "https://w/" }]\n`)).toEqual({
    threshold: 1,
    list: [{ vkey: W1, url: "https://w/" }],
    intervalMs: 30_000,
    timeoutMs: 10_000,
    maxAgeMs: 600_000,
    onMissing: "report",
    asksAtStart: true,
  });
  const one = (vkey: string, url = "https://w/", threshold = 1): string =>
    `    threshold: ${threshold}\n    list:\n      - vkey: "${vkey}"\n        url: "${url}"\n`;
  expect(() => load(one(LOG))).toThrow(/:6:15: vkey is the key of a log/u);
  expect(() => load(one(W1.replace("6be", "6bf")))).toThrow(/:6:15: vkey cannot be used/u);
  expect(() => load(one(W1, "ftp://w/"))).toThrow(/:7:14: url must start with http/u);
  expect(() => load(one(W1, "https://a:b@w/"))).toThrow(/:7:14: url must not have a user name/u);
  expect(() => load(one(W1, "https://w/", 2))).toThrow(/:4:16: threshold is 2, but list has 1/u);
  expect(() => load(one(W1) + one(W1).split("\n").slice(2).join("\n"))).toThrow(
    /:8:15: vkey has the key of another witness/u,
  );
});

test("on_missing: stop refuses runs after max_age, and a witness that comes back opens them again; the status and the conditions say so", async () => {
  const { port, close } = await listenAt(() => undefined);
  await close();
  const key = generateKey();
  const name = "witness.example/w1";
  const vkey = encodeVkey(createNoteKey(name, createSigner(key).publicKey, NOTE_COSIGNATURE));
  served = await startServed(talking, {
    config: `receipts: { witnesses: { threshold: 1, interval: 0.2, max_age: 1, on_missing: stop, list: [{ vkey: "${vkey}", url: "http://127.0.0.1:${port}/" }] } }`,
  });
  const { running, control } = served;
  let runs = 0;
  const status = async (): Promise<number> => {
    runs += 1;
    const run = { threadId: `t${runs}`, runId: `r${runs}` };
    const response = await post(`${running.dataUrl}/agents/support`, run);
    await response.text();
    return response.status;
  };
  expect(await status()).toBe(200);
  await vi.waitFor(async () => expect(await status()).toBe(503), {
    timeout: 15_000,
    interval: 200,
  });
  const ready = (): Promise<Response> => fetch(`${running.dataUrl}/readyz`);
  await vi.waitFor(async () => expect((await ready()).status).toBe(503), { timeout: 5000 });
  // The first request waits for the first checkpoint.
  await vi.waitFor(
    async () =>
      expect(await (await control("/v1/status")).json()).toMatchObject({
        log: { witnesses: { late: true, list: [{ name, failing: expect.any(String) }] } },
      }),
    { timeout: 5000 },
  );
  expect(await (await control("/metrics")).text()).toContain("countersign_unwitnessed 1");
  expect((await control("/v1/checkpoint/witnessed")).status).toBe(404);
  const logs = [parseVkey(running.receipts.logKey)];
  const witness = await startWitness({ directory: join(folder, "w"), logs, name, key, port });
  await vi.waitFor(async () => expect(await status()).toBe(200), {
    timeout: 20_000,
    interval: 200,
  });
  await vi.waitFor(async () => expect((await ready()).status).toBe(200), { timeout: 5000 });
  expect((await control("/v1/checkpoint/witnessed")).status).toBe(200);
  // The last entries are cosigned while the gateway stops.
  await status();
  await running.close();
  const { witnessing } = running.receipts.attesting;
  expect(witnessing?.uncoveredMs).toBe(0);
  expect(witnessing?.witnessed?.isEnough).toBe(true);
  await witness.close();
}, 60_000);
