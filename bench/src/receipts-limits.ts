import { execFile } from "node:child_process";
import { mkdir, open, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

const run = promisify(execFile);

/** Ed25519 signatures per second on all cores by `openssl speed`; undefined without openssl. */
export async function opensslSigns(): Promise<number | undefined> {
  try {
    const parameters = [
      "speed",
      "-seconds",
      "2",
      "-multi",
      String(availableParallelism()),
      "ed25519",
    ];
    const { stdout } = await run("openssl", parameters);
    const line = stdout.split("\n").findLast((one) => one.includes("253 bits EdDSA"));
    const rate = Number(line?.trim().split(/\s+/).at(-2));
    return Number.isFinite(rate) ? rate : undefined;
  } catch {
    return undefined;
  }
}

/** Measures the signatures of all cores with libsodium: one thread per core, without other work. */
export async function startSodiumMeter(): Promise<{
  /** Signatures per second, and the processor time of one in microseconds. */
  measure(milliseconds: number): Promise<{ rate: number; cpuMicroseconds: number }>;
  close(): Promise<void>;
}> {
  const file = new URL("./receipts-sodium.js", import.meta.url);
  const workers = Array.from({ length: availableParallelism() }, () => new Worker(file));
  return {
    async measure(milliseconds) {
      const cpu = process.cpuUsage();
      const start = performance.now();
      const rates = await Promise.all(
        workers.map(
          (worker) =>
            new Promise<number>((resolve) => {
              worker.once("message", resolve);
              worker.postMessage(milliseconds);
            }),
        ),
      );
      const rate = rates.reduce((sum, one) => sum + one, 0);
      const used = process.cpuUsage(cpu);
      const signed = (rate * (performance.now() - start)) / 1_000;
      return { rate, cpuMicroseconds: (used.user + used.system) / signed };
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

/** Bytes per second that can be appended and flushed in pieces of 256 KiB. */
export async function flushedBytes(directory: string): Promise<number> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, "flush-probe");
  const file = await open(path, "w");
  const piece = Buffer.alloc(1 << 18, 0x61);
  const start = performance.now();
  let bytes = 0;
  while (performance.now() - start < 1_000) {
    await file.write(piece);
    await file.datasync();
    bytes += piece.length;
  }
  const rate = (bytes * 1_000) / (performance.now() - start);
  await file.close();
  await rm(path);
  return rate;
}

type Database = {
  exec(sql: string): void;
  prepare(sql: string): { run(...parameters: (string | number)[]): unknown };
  close(): void;
};

/** Rows per second of a plain indexed SQLite table, batches of 1,000, `synchronous = FULL`. */
export async function rawSqliteRows(directory: string, rows: readonly string[]): Promise<number> {
  const fromReceipts = createRequire(import.meta.resolve("@countersign/receipts"));
  const { DatabaseSync } = fromReceipts("@photostructure/sqlite") as {
    DatabaseSync: new (path: string) => Database;
  };
  const path = join(directory, "raw.sqlite");
  const database = new DatabaseSync(path);
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE entries (seq INTEGER PRIMARY KEY, id TEXT, session TEXT, run TEXT, type TEXT, class TEXT, at INTEGER, body TEXT); CREATE UNIQUE INDEX a ON entries (id); CREATE INDEX b ON entries (session); CREATE INDEX c ON entries (run); CREATE INDEX d ON entries (class, at)",
  );
  const insert = database.prepare("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const start = performance.now();
  rows.forEach((body, at) => {
    if (at % 1_000 === 0) database.exec("BEGIN");
    const id = `agui-evt_${String(at).padStart(26, "0")}`;
    insert.run(at, id, `sess_${at % 50}`, `run_${at % 50}`, "form_action", "submit", at, body);
    if (at % 1_000 === 999 || at === rows.length - 1) database.exec("COMMIT");
  });
  const rate = (rows.length * 1_000) / (performance.now() - start);
  database.close();
  for (const suffix of ["", "-wal", "-shm"]) await rm(`${path}${suffix}`, { force: true });
  return rate;
}

type Pool = { query(sql: string, values?: unknown[]): Promise<unknown>; end(): Promise<void> };

/** Rows per second of a plain indexed PostgreSQL table by `unnest`, batches of 1,000. */
export async function rawPostgresRows(url: string, rows: readonly string[]): Promise<number> {
  const fromReceipts = createRequire(import.meta.resolve("@countersign/receipts"));
  const { Pool } = fromReceipts("pg") as { Pool: new (options: object) => Pool };
  const pool = new Pool({ connectionString: url, max: 1 });
  await pool.query(
    "CREATE TABLE raw (seq bigint PRIMARY KEY, id text UNIQUE, session text, run text, class text, at bigint, body text); CREATE INDEX ON raw (session); CREATE INDEX ON raw (run); CREATE INDEX ON raw (class, at)",
  );
  const start = performance.now();
  for (let at = 0; at < rows.length; at += 1_000) {
    const part = rows.slice(at, at + 1_000);
    await pool.query(
      "INSERT INTO raw SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])",
      [
        part.map((_, index) => at + index),
        part.map((_, index) => `agui-evt_${String(at + index).padStart(26, "0")}`),
        part.map((_, index) => `sess_${index % 50}`),
        part.map((_, index) => `run_${index % 50}`),
        part.map(() => "submit"),
        part.map((_, index) => at + index),
        part,
      ],
    );
  }
  const rate = (rows.length * 1_000) / (performance.now() - start);
  await pool.query("DROP TABLE raw");
  await pool.end();
  return rate;
}
