import { spawnSync } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSampleGateway, runVerb, sampleDraft } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

let gateway: SampleGateway;
beforeAll(async () => {
  gateway = createSampleGateway();
  await gateway.run("keys", "new");
  await gateway.append(0, 20);
  // The store of a killed gateway: it has entries acknowledged after the last checkpoint.
  const log = await gateway.open();
  await log.appendAll(Array.from({ length: 7 }, (_, index) => sampleDraft(20 + index)));
  await cp(gateway.path("store"), gateway.path("killed"), { recursive: true });
  // The lock of a process that is gone.
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  await writeFile(gateway.path("killed/lock"), `${pid} 1\n`);
  await log.close();
});
afterAll(() => gateway.remove());

const killed = (...args: string[]): ReturnType<SampleGateway["run"]> =>
  gateway.run("receipts", ...args);

test("after a kill, verify tells the entries behind the last checkpoint apart, and checks them", async () => {
  const { code, out } = await killed("verify", gateway.path("killed"));
  expect(code).toBe(0);
  expect(out).toContain("20 entries");
  expect(out).toMatch(
    /held +Entries not yet covered by a checkpoint are whole +7 entries after the last checkpoint, from 20 on/,
  );
});

test("a flush behind the last checkpoint that is not whole is told, with what to do", async () => {
  await cp(gateway.path("killed"), gateway.path("cut"), { recursive: true });
  const segment = gateway.path("cut/segments/0000000000000000.log");
  const bytes = await readFile(segment);
  // Behind what was written lie zeros, laid out ahead; a root ends in a zero now and then.
  const end = bytes.findLastIndex((byte) => byte !== 0);
  await writeFile(segment, bytes.subarray(0, end - 10));
  const { code, out } = await killed("verify", gateway.path("cut"));
  expect(code).toBe(1);
  expect(out).toMatch(/FAILED +Entries not yet covered .*Fix: .*start the gateway/u);
});

test("export writes what is covered and says how many entries are not", async () => {
  const place = ["--store", `sqlite:${gateway.path("killed")}`, "--keys", gateway.path("keys")];
  const run = (name: string, ...more: string[]): ReturnType<typeof runVerb> =>
    runVerb(["receipts", "export", gateway.path(name), ...more, ...place]);
  expect(JSON.parse((await run("export-1", "--json")).out)).toMatchObject({
    entries: 20,
    beyondCheckpoint: 7,
  });
  const { out } = await run("export-2");
  expect(out).toContain("wrote 20 entries");
  expect(out).toContain("7 more entries are newer than the last checkpoint");
});

test("receipts.jsonl alone can be verified: signatures, but not that all are there", async () => {
  const made = JSON.parse((await gateway.run("keys", "show", "--json")).out);
  const target = gateway.path("export-lines");
  await killed("export", target);
  const file = `${target}/receipts.jsonl`;
  const good = await killed("verify", file, "--key", made.receipts);
  expect([good.code, good.out]).toEqual([0, expect.stringContaining("27 receipts")]);
  expect(good.out).toContain("only an export shows");
  const stranger = `ed25519:${"ab".repeat(32)}`;
  expect((await killed("verify", file, "--key", stranger)).code).toBe(1);
  const lines = (await readFile(file, "utf8")).split("\n");
  lines[12] = (lines[12] ?? "").replace('"main"', '"mine"');
  const changed = gateway.path("changed.jsonl");
  await writeFile(changed, lines.join("\n"));
  const bad = await killed("verify", changed);
  expect([bad.code, bad.out]).toEqual([1, expect.stringContaining("first broken entry: 12")]);
  await writeFile(changed, "not json\n");
  expect((await killed("verify", changed)).code).toBe(1);
  await writeFile(changed, "");
  expect((await killed("verify", changed)).code).toBe(1);
});
