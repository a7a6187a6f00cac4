import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cp, mkdir, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeBundle, encodeBundle } from "@countersign/receipts";
import type { EntryDraft } from "@countersign/receipts/log";
import { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../testing/run-program.js";
import { registerKeys } from "../keys/index.js";
import { registerReceipts } from "./index.js";
import { createSampleGateway, sampleDraft } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

const SIZE = 600;
let gateway: SampleGateway;
let logKey = "";
let key = "";
beforeAll(async () => {
  gateway = createSampleGateway();
  const made = JSON.parse((await gateway.run("keys", "new", "--json")).out);
  logKey = made.log;
  key = made.receipts;
  await gateway.append(0, SIZE);
  await gateway.run("receipts", "export", gateway.path("export"), "--proof", "17");
});
afterAll(() => gateway.remove());

const trust = (): string[] => ["--log-key", logKey, "--key", key];

test("list shows decisions newest first, filters them and pages on", async () => {
  const { out, code } = await gateway.run("receipts", "list", "--limit", "2");
  expect(code).toBe(0);
  expect(out.split("\n")[1]).toMatch(
    /^599 .*main +form_action +display +modal:confirm:refund +blocked cap/,
  );
  expect(out).toContain("Next page: --cursor n598");
  const blocked = await gateway.run("receipts", "list", "--blocked", "--json", "--oldest");
  const page = JSON.parse(blocked.out);
  expect(page.entries[0].seq).toBe(4);
  expect(page.entries).toHaveLength(50);
  const filters = ["--target", "modal:confirm:refund", "--session", "sess_1", "--run", "run_0"];
  const found = await gateway.run("receipts", "list", ...filters, "--allowed", "--json");
  expect(JSON.parse(found.out).entries.map((entry: { seq: number }) => entry.seq)).toEqual([
    7, 5, 3, 1,
  ]);
  const seqs = async (...flags: string[]): Promise<number[]> => {
    const { out: text } = await gateway.run("receipts", "list", ...flags, "--json", "--oldest");
    return JSON.parse(text).entries.map((entry: { seq: number }) => entry.seq);
  };
  expect(await seqs("--thread", "thread_1", "--limit", "3")).toEqual([1, 5, 9]);
  expect(await seqs("--direction", "outbound", "--limit", "3")).toEqual([1, 2, 4]);
  const none = await gateway.run("receipts", "list", "--agent", "other");
  expect(none).toEqual({ code: 0, out: "no receipt matches the options\n" });
});

test("--noted finds forwarded events that violate a rule, in lists and in counts", async () => {
  const noted = createSampleGateway();
  try {
    const log = await noted.open();
    for (const number of [0, 1, 4, 9]) {
      const rule =
        number === 0
          ? {}
          : { rule: "gateway/withheld", further_rules: ["ag_ui.capability", "ag_ui_inbound"] };
      await log.append({ ...sampleDraft(number), mode: "observe", ...rule });
    }
    await log.close();
    const list = await noted.run("receipts", "list", "--noted", "--json");
    expect(JSON.parse(list.out).entries.map((entry: { seq: number }) => entry.seq)).toEqual([1]);
    const { out } = await noted.run("receipts", "list", "--noted");
    expect(out).toContain("allowed would block: gateway/withheld, ag_ui.capability, ag_ui_inbound");
    const stats = await noted.run("receipts", "stats", "--noted", "--by", "rule", "--json");
    expect(JSON.parse(stats.out).rows).toEqual([{ count: 1, group: ["gateway/withheld"] }]);
    const both = await noted.run("receipts", "list", "--noted", "--blocked");
    expect(both.code).not.toBe(0);
    const store = ["--store", `sqlite:${noted.path("store")}`];
    const told = await runProgram("policy", "explain", "1", ...store);
    expect(told.out).toContain("allowed would block: gateway/withheld");
    expect(told.out).toContain("gateway/withheld: the gateway withholds every interrupt");
    expect(told.out).toMatch(/^ag_ui_inbound: /mu);
    const id = `agui-${sampleDraft(4).receipt.event_id}`;
    const receipt = JSON.parse((await runProgram("policy", "explain", id, "--json", ...store)).out);
    expect(receipt).toMatchObject({ entry: { seq: 2 }, meaning: { remedy: expect.any(String) } });
  } finally {
    noted.remove();
  }
});

test.each(["evt_01M7.3", "order 7/é"])(
  "a receipt of the event %j is explained by its id",
  async (event) => {
    const shown = createSampleGateway();
    try {
      const log = await shown.open();
      const draft = sampleDraft(4);
      await log.append({ ...draft, receipt: { ...draft.receipt, event_id: event } } as EntryDraft);
      await log.close();
      const store = ["--store", `sqlite:${shown.path("store")}`];
      const { out } = await runProgram("policy", "explain", `agui-${event}`, "--json", ...store);
      expect(JSON.parse(out)).toMatchObject({ entry: { seq: 0, receipt: { event_id: event } } });
    } finally {
      shown.remove();
    }
  },
);

test("an agent's text cannot move the cursor of a reader's terminal", async () => {
  const { out } = await gateway.run("receipts", "list", "--oldest", "--limit", "2");
  expect(out).toContain("custom:clip\\u{1b}[2Jboard");
  expect((await gateway.run("receipts", "show", "1")).out).toContain("clip\\u{1b}[2Jboard");
});

test("stats count by any column and over time", async () => {
  const asked = ["--classification", "submit", "--target", "modal", "--since", "2026-11-01"];
  const { out } = await gateway.run("receipts", "stats", ...asked, "--json");
  expect(JSON.parse(out).rows).toEqual([
    { count: 60, group: ["submit", false] },
    { count: 240, group: ["submit", true] },
  ]);
  const table = await gateway.run("receipts", "stats", "--by", "session_id", "--bucket", "5m");
  expect(table.out).toMatch(/^from +session_id +count\n2026-11-1\dT.* sess_0 +\d+\n/);
});

test("flags that make no sense are refused with what would make sense", async () => {
  const wrong: [string[], string][] = [
    [["list", "--since", "yesterdayish"], "15m, 2h, 7d"],
    [["list", "--limit", "many"], "from 1 to 1000"],
    [["list", "--allowed", "--blocked"], "cannot be used with"],
    [["stats", "--bucket", "wide"], "30s, 5m, 1h or 1d"],
    [["stats", "--by", "colour"], "session_id"],
    [["show", "600"], "entries 0 to 599"],
    [["show", "agui-nothing"], "no receipt agui-nothing"],
    [["proof", "600"], "entries 0 to 599"],
    [["export", "x", "--proof", "600"], "600 entries"],
    [["export", "x", "--proof", "first"], "the number of an entry"],
    [["verify", "nowhere"], "does not exist"],
    [["verify", gateway.path("keys")], "is not an export"],
    [["verify", gateway.path("export"), "--key", "me"], "64 hexadecimal digits"],
    [["verify", gateway.path("export"), "--log-key", "me"], "name+id+key"],
    [["list", "--config", "nowhere.yaml"], "nowhere.yaml does not exist"],
  ];
  for (const [args, hint] of wrong) {
    const { code, out } = await gateway.run("receipts", ...args);
    expect(out).toContain(hint);
    expect(code).toBe(2);
  }
});

test("an entry shown as JSON and its proof verify with the log's key, and not without it", async () => {
  const { out: entry } = await gateway.run("receipts", "show", "17", "--json");
  const file = gateway.path("17.json");
  writeFileSync(file, entry);
  const proof = gateway.path("17.tlog-proof");
  const made = await gateway.run("receipts", "proof", `agui-${evt(17)}`, "--output", proof);
  expect(made.out).toBe(`wrote ${proof}: proof of entry 17 in a log of 600 entries\n`);
  const good = await gateway.run("receipts", "verify", file, "--proof", proof, ...trust());
  expect(good).toMatchObject({ code: 0, out: expect.stringContaining("signed by keys you trust") });
  const blind = await gateway.run("receipts", "verify", file, "--proof", proof);
  expect(blind).toMatchObject({ code: 2, out: expect.stringContaining("--log-key") });
  // However a copy was formatted on its way, it is the same entry.
  writeFileSync(file, JSON.stringify(JSON.parse(entry), undefined, 2));
  expect((await gateway.run("receipts", "verify", file, "--proof", proof, ...trust())).code).toBe(
    0,
  );
  const printed = await gateway.run("receipts", "proof", "17");
  expect(printed.out).toBe(readFileSync(proof, "utf8"));
  const other = gateway.path("18.json");
  writeFileSync(other, (await gateway.run("receipts", "show", "18", "--json")).out);
  const swapped = await gateway.run("receipts", "verify", other, "--proof", proof, ...trust());
  expect(swapped).toMatchObject({ code: 1, out: expect.stringContaining("not valid") });
});

test("a receipt alone is valid or not, trusted or not, and says nothing of a payload it does not fit", async () => {
  const { out } = await gateway.run("receipts", "show", "20", "--json");
  const { receipt } = JSON.parse(out);
  const file = gateway.path("receipt.json");
  writeFileSync(file, JSON.stringify(receipt));
  const unasked = await gateway.run("receipts", "verify", file);
  expect(unasked.code).toBe(0);
  expect(unasked.out).toContain("valid; the signer was not checked. Fix: add --key");
  expect((await gateway.run("receipts", "verify", file, "--key", key)).code).toBe(0);
  const stranger = await gateway.run("receipts", "verify", file, "--key", "00".repeat(32));
  expect(stranger).toMatchObject({ code: 1, out: expect.stringContaining("NOT on your list") });
  const event = gateway.path("event.json");
  writeFileSync(event, '{"type":"RUN_STARTED","threadId":"t","runId":"r"}');
  const unfit = await gateway.run("receipts", "verify", file, "--event", event, "--json");
  expect(unfit.code).toBe(1);
  expect(JSON.parse(unfit.out).checks).toContainEqual(
    expect.objectContaining({ id: "payload-hash", status: "failed" }),
  );
  writeFileSync(file, JSON.stringify({ ...receipt, allowed: false, denial_reason: "x" }));
  expect((await gateway.run("receipts", "verify", file)).code).toBe(1);
});

test("the live store, its directory and an export all verify, and no temporary file stays", async () => {
  const before = temporary();
  for (const what of [[], [gateway.path("store")], [gateway.path("export")]]) {
    // The flags first: an argument after them is an argument.
    const { code, out } = await gateway.run("receipts", "verify", ...trust(), ...what);
    expect(out).toContain("valid, and signed by keys you trust");
    expect(code).toBe(0);
  }
  expect(temporary()).toEqual(before);
});

test("every way to tamper with an export is found, and the first broken entry is named", async () => {
  const bundle = "tile/entries/001";
  const tampers: [string, (directory: string) => Promise<void>, number | undefined][] = [
    ["a flipped bit", (at) => editFile(join(at, bundle), flipBit), 256],
    ["a deleted entry", (at) => editBundle(at, bundle, (all) => all.toSpliced(9, 1)), 265],
    ["a swapped pair", (at) => editBundle(at, bundle, swapPair), 259],
    ["a truncated tail", (at) => truncate(join(at, "tile/entries/002.p/88"), 5_000), 517],
    ["a missing bundle", (at) => rm(join(at, bundle)), 256],
    ["no checkpoint", (at) => rm(join(at, "checkpoint")), undefined],
    ["a receipt changed in the list", (at) => editFile(join(at, "receipts.jsonl"), flipBit), 0],
    ["a leaf tile changed", (at) => editFile(join(at, "tile/0/000"), flipBit), 0],
    ["another key history", (at) => editFile(join(at, "keys.jsonl"), flipBit), undefined],
  ];
  for (const [name, tamper, broken] of tampers) {
    const directory = gateway.path(`tampered ${name}`);
    await cp(gateway.path("export"), directory, { recursive: true });
    await tamper(directory);
    const { code, out } = await gateway.run("receipts", "verify", directory, ...trust(), "--json");
    const result = JSON.parse(out);
    expect({ name, code, valid: result.valid }).toEqual({ name, code: 1, valid: false });
    expect({ name, at: result.firstBrokenIndex }).toEqual({ name, at: broken });
    const told = await gateway.run("receipts", "verify", directory);
    expect(told.out).toContain("not valid");
  }
});

test("an export verified with the wrong keys is valid and not accepted", async () => {
  const other = createSampleGateway();
  const { log } = JSON.parse((await other.run("keys", "new", "--json")).out);
  other.remove();
  const args = ["receipts", "verify", gateway.path("export")];
  const stranger = await gateway.run(...args, "--log-key", log, "--key", key);
  expect(stranger.code).toBe(1);
  const unknown = await gateway.run(...args, "--log-key", logKey, "--key", "00".repeat(32));
  expect(unknown).toMatchObject({ code: 1, out: expect.stringContaining("did not name") });
});

test("the command printed in an export's README accepts that export", async () => {
  const readme = readFileSync(gateway.path("export/README.md"), "utf8");
  const [, line] = /^ {4}countersign (receipts verify .*)$/m.exec(readme) ?? [];
  const given = [gateway.path("export"), logKey, key];
  const args = (line ?? "").match(/"[^"]*"|\S+/g) ?? [];
  const filled = args.map((arg) => (arg === "." || arg.startsWith('"') ? given.shift() : arg));
  expect(await gateway.run(...(filled as string[]))).toMatchObject({ code: 0 });
  expect(readdirSync(gateway.path("export/proofs"))).toEqual(["17.tlog-proof"]);
});

test("verbs answer beside a running gateway, as of its last checkpoint", async () => {
  const other = createSampleGateway();
  await other.run("keys", "new");
  const log = await other.open();
  expect((await other.run("receipts", "list")).out).toBe("the log has no receipts yet\n");
  expect((await other.run("receipts", "verify")).code).toBe(0);
  for (const size of [3, 6]) {
    await Promise.all([0, 1, 2].map((number) => log.append(sampleDraft(size - 3 + number))));
    await log.checkpoint();
    const { out } = await other.run("receipts", "stats", "--by", "", "--json");
    expect(JSON.parse(out).rows).toEqual([{ count: size, group: [] }]);
    expect((await other.run("receipts", "show", String(size - 1))).code).toBe(0);
    expect((await other.run("receipts", "verify")).code).toBe(0);
  }
  await log.close();
  other.remove();
});

test("without a store, and in a directory that is none, the answer names the way on", async () => {
  const other = createSampleGateway();
  await mkdir(other.path("store"));
  for (const verb of [["list"], ["stats"], ["show", "0"], ["proof", "0"], ["verify"]]) {
    const { code, out } = await other.run("receipts", ...verb, "--json");
    expect(code).toBe(2);
    expect(JSON.parse(out).error.code).toBe("ERR_CLI_NO_STORE");
  }
  other.remove();
});

test("every verb has an example in its help", () => {
  const program = new Command("countersign");
  registerReceipts(program);
  registerKeys(program);
  for (const verb of program.commands.flatMap((group) => [...group.commands])) {
    let help = "";
    verb.configureOutput({ writeOut: (text) => (help += text) });
    verb.outputHelp();
    expect(help).toMatch(/Example.*:\n {2}\$ countersign/);
    expect(help).toContain("--json");
  }
});

function evt(number: number): string {
  return sampleDraft(number).receipt.event_id;
}

function temporary(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("countersign-verify-"));
}

async function editFile(file: string, edit: (bytes: Buffer) => Uint8Array): Promise<void> {
  writeFileSync(file, edit(readFileSync(file)));
}

function flipBit(bytes: Buffer): Buffer {
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  return bytes;
}

function editBundle(
  directory: string,
  name: string,
  edit: (entries: Uint8Array[]) => Uint8Array[],
): Promise<void> {
  return editFile(join(directory, name), (bytes) => encodeBundle(edit(decodeBundle(bytes, 256))));
}

function swapPair(entries: Uint8Array[]): Uint8Array[] {
  return entries.toSpliced(3, 2, ...entries.slice(3, 5).toReversed());
}
