// Writes the tables of another version of this program, with receipts in them, as a fixture of the upgrade test:
// node scripts/dump-database.mjs CHECKOUT FILE.sql.gz
// The checkout is built (npm ci && npm run build). That of the fixture in the repository is commit a460378b.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [checkout, file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("usage: node scripts/dump-database.mjs CHECKOUT FILE.sql.gz\n");
  process.exit(2);
}
const load = (path) => import(pathToFileURL(join(resolve(checkout), path)).href);
const { startPostgres } = await load("testkit/dist/index.js");
const { importPrivateKey, createSigner } = await load("packages/core/dist/ed25519/sign-node.js");
const { openLog, createLogSeal } = await load("packages/receipts/dist/log/index.js");
const { createSigningPool } = await load("packages/receipts/dist/sign/index.js");
const { openPostgresStore } = await load("packages/receipts/dist/postgres/index.js");
const { PG_SCHEMA } = await load("packages/receipts/dist/postgres/schema.js");
const { MIGRATIONS, EVIDENCE_MIGRATIONS } = await load(
  "packages/gateway/dist/store/postgres/migrations.js",
);
const { Client } = createRequire(join(resolve(checkout), "packages/receipts/"))("pg");

const ENTRIES = 3_000;
const REMOVED = 512;
/** The keys are no secrets: seeds of equal bytes, which the test knows. */
const seed = (byte) => new Uint8Array(32).fill(byte);
const origin = "upgrade.example/log";

function draftOf(number) {
  const run = Math.floor(number / 20);
  const isBlocked = number % 50 === 7;
  return {
    direction: "outbound",
    mode: "enforce",
    policy_hash: "ef".repeat(32),
    run_id: `run_${run}`,
    thread_id: `thread_${Math.floor(run / 5)}`,
    principal: `user-${run % 7}`,
    received_at: 1_763_000_000_000 + number * 10,
    ...(isBlocked ? { rule: "rules.ag_ui.restricted" } : {}),
    receipt: {
      agent_id: "agent-support",
      allowed: !isBlocked,
      capability_id: "<none>",
      classification: "display",
      ...(isBlocked ? { denial_reason: "restricted" } : {}),
      event_id: `evt_${String(number).padStart(26, "0")}`,
      event_type: "text_stream",
      payload_hash: "cd".repeat(32),
      session_id: `sess_${Math.floor(run / 5)}`,
      target: { component_type: "chat", component_id: `message_${run}` },
      timestamp: 1_763_000_000 + Math.floor(number / 100),
      transport: "sse",
    },
  };
}

const server = await startPostgres();
const client = new Client({ connectionString: server.url });
await client.connect();
const store = await openPostgresStore({ url: server.url, log: origin });
const log = await openLog({
  store,
  signer: await createSigningPool(importPrivateKey(seed(1))),
  checkpointSigner: createSigner(importPrivateKey(seed(2))),
  origin,
  seal: createLogSeal(seed(3), origin),
  sign: "batch",
  checkpointInterval: 0,
});
for (let number = 0; number < ENTRIES; number += 20) {
  await log.appendAll(Array.from({ length: 20 }, (_, at) => draftOf(number + at)));
  if (number === ENTRIES / 2) await log.checkpoint();
}
await log.checkpoint();
await store.writeKeyHistory("one line of a key history\n");
await store.remove(REMOVED);
await log.close();

const schema = [PG_SCHEMA, ...[...MIGRATIONS, ...EVIDENCE_MIGRATIONS].map(({ sql }) => sql)];
for (const { sql } of [...MIGRATIONS, ...EVIDENCE_MIGRATIONS]) await client.query(sql);
await client.query(`
  INSERT INTO countersign_threads VALUES ('upgrade', 't1', 7);
  INSERT INTO countersign_facts VALUES ('upgrade', 't1', 'message', 'm1', '{"role":"user"}');
  INSERT INTO countersign_revocations (log, capability_id, revoked_at) VALUES ('upgrade', 'cap', 7);
  INSERT INTO countersign_budgets VALUES ('upgrade', 'cap', 9, 3, 4, 5)`);
const { rows: tables } = await client.query(
  "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND starts_with(relname, 'countersign_') ORDER BY relname",
);
const parts = [...schema];
for (const { name } of tables) {
  const { rows } = await client.query(
    `SELECT coalesce(json_agg(one), '[]')::text AS all FROM ${name} AS one`,
  );
  const text = rows[0].all.replaceAll("'", "''");
  parts.push(
    `INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${name}, '${text}')`,
  );
}
await client.end();
await server.stop();
// Statements hold semicolons: each is a line of JSON.
const dump = gzipSync(parts.map((part) => JSON.stringify(part)).join("\n"), { level: 9 });
writeFileSync(file, dump);
process.stdout.write(`${file}: ${ENTRIES} entries, ${dump.length} bytes\n`);
