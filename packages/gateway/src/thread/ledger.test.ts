import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  claimOne,
  createMovedClock,
  describeLedgerContract,
  rowsOf,
} from "../testing/ledger-contract.js";
import { createMemoryLedger } from "./memory-ledger.js";
import { openPostgresLedger } from "../store/postgres/open-postgres-ledger.js";
import { openSqliteLedger } from "../store/sqlite/open-sqlite-ledger.js";

let directory: string;
let server: RunningPostgres;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-ledger-"));
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

describeLedgerContract("ledger in memory", async (_, clock) => createMemoryLedger(clock));
describeLedgerContract("ledger in SQLite", (name, clock) =>
  openSqliteLedger({ directory: join(directory, name), clock }),
);
describeLedgerContract("ledger in PostgreSQL", (name, clock) =>
  openPostgresLedger({ url: server.url, name, clock }),
);

test("a memory ledger is bounded and evicts the least recently used thread", async () => {
  const ledger = createMemoryLedger(createMovedClock(), 2);
  for (const thread of ["a", "b", "c"]) {
    await ledger.write(thread, [{ kind: "message", id: "m", value: {} }]);
  }
  expect(await rowsOf(ledger, "a")).toEqual([]);
  expect(await rowsOf(ledger, "c")).toHaveLength(1);
});

test("rows written to SQLite are there when the file is opened again", async () => {
  const options = { directory: join(directory, "again"), clock: createMovedClock() };
  const first = await openSqliteLedger(options);
  await first.write("t", [{ kind: "message", id: "m", value: { c: ["x"] } }]);
  // Not closed, as when the process is killed.
  const second = await openSqliteLedger(options);
  expect(await rowsOf(second, "t")).toHaveLength(1);
  expect(await claimOne(second, "t", { kind: "run", id: "r", value: {} })).toBeUndefined();
  expect(await claimOne(first, "t", { kind: "run", id: "r", value: {} })).toEqual({});
  await Promise.all([first.close(), second.close()]);
});

test.skipIf(process.platform === "win32")("no other user can read the SQLite files", async () => {
  const place = join(directory, "private");
  const ledger = await openSqliteLedger({ directory: place, clock: createMovedClock() });
  expect((await stat(place)).mode & 0o077).toBe(0);
  await ledger.close();
});

test("two gateways on one PostgreSQL share threads, and one of them gets a run id", async () => {
  const open = () =>
    openPostgresLedger({ url: server.url, name: "shared", clock: createMovedClock() });
  const [one, other] = await Promise.all([open(), open()]);
  await one.write("t", [{ kind: "message", id: "m", value: {} }]);
  expect(await rowsOf(other, "t")).toHaveLength(1);
  const claims = await Promise.all(
    [one, other].map((ledger) => claimOne(ledger, "t", { kind: "run", id: "r", value: {} })),
  );
  expect(claims.filter((known) => known === undefined)).toHaveLength(1);
  await Promise.all([one.close(), other.close()]);
});

test("a closed ledger fails with an error code", async () => {
  const ledger = await openSqliteLedger({
    directory: join(directory, "closed"),
    clock: createMovedClock(),
  });
  await ledger.close();
  await expect(rowsOf(ledger, "t")).rejects.toThrow(
    expect.objectContaining({ code: "ERR_LEDGER_UNAVAILABLE" }),
  );
});
