import { readFileSync, writeFileSync } from "node:fs";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSampleGateway } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

const SIZE = 300;
let server: RunningPostgres;
let gateway: SampleGateway;
beforeAll(async () => {
  server = await startPostgres();
  gateway = createSampleGateway(server.url);
});
afterAll(async () => {
  gateway.remove();
  await server.stop();
});

test("the verbs over PostgreSQL: none makes a table, and all answer as over the embedded store", async () => {
  for (const verb of [["list"], ["stats"], ["verify"], ["show", "0"], ["proof", "0"]]) {
    const { code, out } = await gateway.run("receipts", ...verb);
    expect([code, out]).toEqual([2, expect.stringContaining("no log named countersign.local/log")]);
  }
  const absent = JSON.parse((await gateway.run("receipts", "list", "--json")).out);
  expect(JSON.stringify(absent)).toContain("ERR_STORE_ABSENT");

  const made = JSON.parse((await gateway.run("keys", "new", "--json")).out);
  await gateway.append(0, SIZE);
  expect(made).toMatchObject({ log: expect.any(String), receipts: expect.any(String) });
  const trust = ["--log-key", made.log, "--key", made.receipts];

  const list = await gateway.run("receipts", "list", "--blocked", "--oldest", "--json");
  expect(
    JSON.parse(list.out)
      .entries.map((one: { seq: number }) => one.seq)
      .slice(0, 3),
  ).toEqual([4, 9, 14]);
  const stats = await gateway.run("receipts", "stats", "--by", "allowed", "--json");
  expect(JSON.parse(stats.out).rows).toEqual([
    { count: 60, group: [false] },
    { count: 240, group: [true] },
  ]);
  const shown = await gateway.run("receipts", "show", "17", "--json");
  writeFileSync(gateway.path("17.json"), shown.out);
  const proof = gateway.path("17.tlog-proof");
  expect((await gateway.run("receipts", "proof", "17", "--output", proof)).code).toBe(0);
  const proven = await gateway.run(
    "receipts",
    "verify",
    gateway.path("17.json"),
    "--proof",
    proof,
    ...trust,
  );
  expect([proven.code, proven.out]).toEqual([0, expect.stringContaining("signed root")]);

  const target = gateway.path("export");
  const exported = await gateway.run("receipts", "export", target, "--proof", "17", "--json");
  expect(JSON.parse(exported.out)).toMatchObject({ entries: SIZE, beyondCheckpoint: 0 });
  expect(readFileSync(`${target}/proofs/17.tlog-proof`, "utf8")).toBe(readFileSync(proof, "utf8"));
  const statements = gateway.path("statements");
  const cose = ["receipts", "export", statements, "--cose", "--blocked", "--json"];
  expect(JSON.parse((await gateway.run(...cose)).out)).toMatchObject({
    statements: 60,
    size: SIZE,
  });
  const about = gateway.path("run_3.json");
  const run = ["--run", "run_3", "--thread", "thread_0", "--in-toto", about];
  expect((await gateway.run("receipts", "export", ...run)).code).toBe(0);
  for (const what of [[], [target], [statements], [about, "--against", target]]) {
    const verified = await gateway.run("receipts", "verify", ...what, ...trust);
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining("keys you trust")]);
  }
});

test("a key is not rotated while a gateway says that it serves the log, and is when it says nothing more", async () => {
  const before = (await gateway.run("keys", "show", "--json")).out;
  const beat = (ageMs: number): Promise<void> =>
    inDatabase(`CREATE TABLE IF NOT EXISTS countersign_gateways (log text, gateway text, seen_at bigint, facts text);
      DELETE FROM countersign_gateways;
      INSERT INTO countersign_gateways VALUES ('countersign.local/log', 'host-1',
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${ageMs}, '{}')`);
  await beat(0);
  const refused = await gateway.run("keys", "new", "--rotate");
  expect(refused).toMatchObject({ code: 2, out: expect.stringContaining("ERR_CLI_GATEWAY_RUNS") });
  expect(refused.out).toContain("host-1");
  expect((await gateway.run("keys", "show", "--json")).out).toBe(before);
  await beat(60_000);
  expect((await gateway.run("keys", "new", "--rotate")).code).toBe(0);
  const store = await openPostgresStore({ url: server.url, log: "countersign.local/log" });
  const history = await store.readKeyHistory();
  await store.close();
  // Every gateway compares its keys with these: it does not start with an older copy.
  expect(history).toBe(readFileSync(gateway.path("keys/keys.jsonl"), "utf8"));
  expect((await gateway.run("receipts", "verify")).code).toBe(0);
});

async function inDatabase(sql: string): Promise<void> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

test.each([
  ["an entry", "UPDATE countersign_entries SET body = set_byte(body, 40, 1) WHERE seq = 7"],
  [
    "a leaf",
    "UPDATE countersign_entries SET leaf = set_byte(leaf, 3, get_byte(leaf, 3) # 1) WHERE seq = 7",
  ],
  [
    "what an entry is found by",
    "UPDATE countersign_spans SET detail = replace(detail, 'agui-', 'other-') WHERE first_seq <= 7 AND last_seq >= 7",
  ],
  ["a hash above", "UPDATE countersign_hashes SET hash = set_byte(hash, 0, get_byte(hash, 0) # 1)"],
  ["an entry that is gone", "DELETE FROM countersign_entries WHERE seq = 7"],
  ["hashes that are gone", "DELETE FROM countersign_hashes"],
  ["the checkpoint", "UPDATE countersign_logs SET checkpoint = replace(checkpoint, 'log', 'lag')"],
])(
  "a database in which %s was changed is not valid, and is again when it is undone",
  async (_what, change) => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    const tables = ["logs", "entries", "hashes", "spans"].map((name) => `countersign_${name}`);
    try {
      for (const table of tables)
        await client.query(`CREATE TABLE kept_${table} AS TABLE ${table}`);
      expect((await client.query(change)).rowCount).toBeGreaterThan(0);
      expect((await gateway.run("receipts", "verify")).code).toBe(1);
    } finally {
      for (const table of tables) {
        await client.query(`DELETE FROM ${table}`);
        await client.query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE TABLE kept_${table}`);
        await client.query(`DROP TABLE kept_${table}`);
      }
      await client.end();
    }
    expect((await gateway.run("receipts", "verify")).code).toBe(0);
  },
);
