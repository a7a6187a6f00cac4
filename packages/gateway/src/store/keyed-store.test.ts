import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  claimOne,
  createMovedClock,
  describeKeyedStoreContract,
  rowsOf,
} from "../testing/keyed-store-contract.js";
import { createMemoryStore } from "./memory-store.js";
import { openPostgresKeyedStore } from "./postgres/open-postgres-store.js";
import { openSqliteKeyedStore } from "./sqlite/open-sqlite-store.js";

let directory: string;
let server: RunningPostgres;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-store-"));
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

describeKeyedStoreContract("store in memory", async (_, clock) => createMemoryStore(clock));
describeKeyedStoreContract("store in SQLite", (name, clock) =>
  openSqliteKeyedStore({ directory: join(directory, name), clock }),
);
describeKeyedStoreContract("store in PostgreSQL", (name, clock) =>
  openPostgresKeyedStore({ url: server.url, name, clock }),
);

test("a memory store is bounded and evicts the least recently used thread", async () => {
  const store = createMemoryStore(createMovedClock(), 2);
  for (const thread of ["a", "b", "c"]) {
    await store.write(thread, [{ kind: "message", id: "m", value: {} }]);
  }
  expect(await rowsOf(store, "a")).toEqual([]);
  expect(await rowsOf(store, "c")).toHaveLength(1);
});

test("rows written to SQLite are there when the file is opened again", async () => {
  const options = { directory: join(directory, "again"), clock: createMovedClock() };
  const first = await openSqliteKeyedStore(options);
  await first.write("t", [{ kind: "message", id: "m", value: { c: ["x"] } }]);
  // Not closed, as when the process is killed.
  const second = await openSqliteKeyedStore(options);
  expect(await rowsOf(second, "t")).toHaveLength(1);
  expect(await claimOne(second, "t", { kind: "run", id: "r", value: {} })).toBeUndefined();
  expect(await claimOne(first, "t", { kind: "run", id: "r", value: {} })).toEqual({});
  await Promise.all([first.close(), second.close()]);
});

test.skipIf(process.platform === "win32")("no other user can read the SQLite files", async () => {
  const place = join(directory, "private");
  const store = await openSqliteKeyedStore({ directory: place, clock: createMovedClock() });
  expect((await stat(place)).mode & 0o077).toBe(0);
  await store.close();
});

test("two gateways on one PostgreSQL share threads, and one of them gets a run id", async () => {
  const open = () =>
    openPostgresKeyedStore({ url: server.url, name: "shared", clock: createMovedClock() });
  const [one, other] = await Promise.all([open(), open()]);
  await one.write("t", [{ kind: "message", id: "m", value: {} }]);
  expect(await rowsOf(other, "t")).toHaveLength(1);
  const claims = await Promise.all(
    [one, other].map((store) => claimOne(store, "t", { kind: "run", id: "r", value: {} })),
  );
  expect(claims.filter((known) => known === undefined)).toHaveLength(1);
  await Promise.all([one.close(), other.close()]);
});

test("a closed store fails with an error code", async () => {
  const store = await openSqliteKeyedStore({
    directory: join(directory, "closed"),
    clock: createMovedClock(),
  });
  await store.close();
  await expect(rowsOf(store, "t")).rejects.toThrow(
    expect.objectContaining({ code: "ERR_LEDGER_UNAVAILABLE" }),
  );
});
