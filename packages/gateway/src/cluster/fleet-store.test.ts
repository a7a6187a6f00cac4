import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Sessions } from "../sessions/sessions.js";
import { SILENT_JOURNAL } from "../base/ports.js";
import { OpenRunHandle } from "../runs/open-run-handle.js";
import { Fleet } from "./fleet.js";
import { openFleetStore } from "./fleet-store.js";
import type { FleetStore } from "./fleet-store.js";

let database: RunningPostgres;
beforeAll(async () => {
  database = await startPostgres();
}, 30_000);
afterAll(() => database.stop(), 30_000);

const open = (gateway: string, name = "log"): Promise<FleetStore> =>
  openFleetStore({ url: database.url, name, gateway });

const row = (session: string, lastSeen: number) => ({ session, lastSeen, view: { id: session } });

async function age(ms: number): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`UPDATE countersign_gateways SET seen_at = seen_at - ${ms}`);
  await client.query(`UPDATE countersign_orders SET made_at = made_at - ${ms}`);
  await client.end();
}

test("gateways see the sessions of live gateways of their log, and no others", async () => {
  const [first, second, stranger] = [await open("a"), await open("b"), await open("c", "other")];
  await first.beat({ facts: { n: 1 }, changed: [row("s\u0000%1", 5), row("s2", 7)], gone: [] });
  await second.beat({ facts: { n: 2 }, changed: [row("s3", 6)], gone: [] });
  await stranger.beat({ facts: {}, changed: [row("s4", 6)], gone: [] });
  expect(await second.members()).toEqual([{ id: "a", facts: { n: 1 } }]);
  expect((await second.sessions()).map(({ session }) => session)).toEqual(["s2", "s\u0000%1"]);
  expect(await second.sessions("s\u0000%1")).toMatchObject([{ gateway: "a", lastSeen: 5 }]);
  expect(await stranger.sessions()).toEqual([]);
  await first.beat({ facts: { n: 3 }, changed: [row("s2", 9)], gone: ["s\u0000%1"] });
  expect(await second.sessions()).toMatchObject([{ session: "s2", lastSeen: 9 }]);

  await age(6000);
  expect(await second.members()).toEqual([]);
  expect(await second.sessions()).toEqual([]);
  await second.sweep();
  await first.beat({ facts: {}, changed: [], gone: [] });
  expect(await second.sessions()).toHaveLength(1);
  await age(61_000);
  await second.sweep();
  await first.beat({ facts: {}, changed: [], gone: [] });
  expect(await second.sessions()).toEqual([]);
  await first.leave();
  expect(await second.members()).toEqual([]);
  for (const store of [first, second, stranger]) await store.close();
});

test("orders are read in sequence, answered by the gateways that execute them, and removed after a minute", async () => {
  const [first, second] = [await open("a", "orders"), await open("b", "orders")];
  const order = { kind: "stop", stop: { session: "s\u0000", run: "r" } } as const;
  await Promise.all(["x", "y", "z"].map((id) => first.order(id, order)));
  const orders = await second.ordersAfter(0);
  expect(orders).toHaveLength(3);
  expect(orders[0]).toMatchObject({ from: "a", order });
  expect(await second.ordersAfter(orders[1]?.serial ?? 0)).toEqual(orders.slice(2));
  await second.answer("x", { stopped: [{ session: "s\u0000", run: "r" }], signs: true });
  await first.answer("x", { stopped: [] });
  expect(await first.answers("x")).toEqual([
    { gateway: "b", stopped: [{ session: "s\u0000", run: "r" }], signs: true },
    { gateway: "a", stopped: [] },
  ]);
  expect(await first.answers("y")).toEqual([]);
  await age(61_000);
  await first.sweep();
  expect(await second.ordersAfter(0)).toEqual([]);
  for (const store of [first, second]) await store.close();
});

test("the sender learns of a silent gateway, unless another gateway had the run", async () => {
  const [first, dead] = [await open("a", "silent"), await open("b", "silent")];
  const fleet = new Fleet(first, SILENT_JOURNAL, new Uint8Array(32));
  await fleet.start(new Sessions({ now: () => 1 }), "a", () => ({}));
  // This gateway is listed and does not read orders.
  await dead.beat({ facts: {}, changed: [], gone: [] });
  await expect(fleet.stop({ session: "s", run: "r" })).rejects.toMatchObject({
    code: "ERR_FLEET_SILENT",
    facts: { gateways: 1 },
  });
  await dead.leave();
  expect(await fleet.stop({ session: "s", run: "r" })).toEqual([]);
  await fleet.close();
  await dead.close();
});

test("a handed token is in no row in the clear, reaches every live gateway, and opens under no other key", async () => {
  const key = new Uint8Array(32).fill(1);
  const names = ["a", "b", "c"];
  const fleets = await Promise.all(
    names.map(async (name, index) => {
      const sessions = new Sessions({ now: () => 1 });
      const sealKey = index === 2 ? new Uint8Array(32) : key;
      const fleet = new Fleet(await open(name, "tokens"), SILENT_JOURNAL, sealKey);
      return { fleet, sessions, name };
    }),
  );
  const [first, second, stranger] = fleets;
  if (first === undefined || second === undefined || stranger === undefined) throw new Error();
  for (const { fleet, sessions, name } of [first, second]) {
    await fleet.start(sessions, name, () => ({}));
  }
  const end = Date.now() / 1000 + 60;
  await first.fleet.hand("s1", HANDED, end);
  expect(second.sessions.find("s1")?.tokens).toEqual([HANDED]);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query("SELECT body FROM countersign_orders WHERE log = 'tokens'");
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain("a token");
  await client.end();
  // A gateway with other keys does not answer, and the sender reports it.
  await stranger.fleet.start(stranger.sessions, stranger.name, () => ({}));
  await expect(first.fleet.hand("s1", { token: "another" }, end)).rejects.toMatchObject({
    code: "ERR_FLEET_SILENT",
  });
  expect(stranger.sessions.find("s1")).toBeUndefined();
  expect(second.sessions.find("s1")?.tokens).toEqual([HANDED, { token: "another" }]);
  for (const { fleet } of fleets) await fleet.close();
}, 30_000);

const HANDED = { token: "a token", principal: "key:alice" };

/** Runs one gateway of a log, with the sessions it starts with. */
async function startFleet(log: string, name: string, fill = 1) {
  const sessions = new Sessions({ now: () => 5_000_000_000_000 });
  const fleet = new Fleet(await open(name, log), SILENT_JOURNAL, new Uint8Array(32).fill(fill));
  await fleet.start(sessions, name, () => ({}));
  return { fleet, sessions };
}

test("a gateway that starts later learns the valid tokens that were handed before, sealed and in order", async () => {
  const first = await startFleet("late", "a");
  const now = Math.floor(Date.now() / 1000);
  await first.fleet.hand("s1", { token: "one" }, now + 600);
  await first.fleet.hand("s1", { token: "two" }, now + 600);
  await first.fleet.hand("s\u0000%2", { token: "three" }, now + 600);
  await first.fleet.hand("s1", { token: "one" }, now + 600);
  await first.fleet.hand("s3", { token: "over" }, now - 600);
  await first.fleet.close();
  const second = await startFleet("late", "b");
  expect(second.sessions.find("s1")?.tokens).toEqual([{ token: "two" }, { token: "one" }]);
  expect(second.sessions.find("s\u0000%2")?.tokens).toEqual([{ token: "three" }]);
  expect(second.sessions.find("s3")).toBeUndefined();
  // The session keeps the time of the handover as its last use.
  const { lastSeen = 0 } = second.sessions.find("s1") ?? {};
  expect(Math.abs(lastSeen - Date.now())).toBeLessThan(60_000);
  for (const { sessions, fleet } of [
    await startFleet("late", "c", 2),
    await startFleet("another log", "d"),
  ]) {
    expect(sessions.list()).toEqual([]);
    await fleet.close();
  }
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query("SELECT * FROM countersign_handed_tokens WHERE log = 'late'");
  // The sweep at start removed the expired row.
  expect(rows).toHaveLength(3);
  for (const secret of ["one", "two", "three", "s1"]) {
    expect(rows.map(({ sealed, name }) => `${sealed} ${name}`).join()).not.toContain(`"${secret}"`);
  }
  await client.end();
  await second.fleet.close();
}, 30_000);

test("a session that has all kept tokens keeps its position; another one gets them in order", async () => {
  const first = await startFleet("known", "a");
  const end = Date.now() / 1000 + 600;
  for (const token of ["one", "two", "three"]) await first.fleet.hand("behind", { token }, end);
  for (const token of ["one", "two"]) await first.fleet.hand("known", { token }, end);
  await first.fleet.close();
  // Its clock is behind the database's clock, so kept tokens look newer than used ones.
  const sessions = new Sessions({ now: () => 1 });
  for (const token of ["one", "two"]) sessions.addToken("known", { token });
  for (const token of ["two", "three"]) sessions.addToken("behind", { token });
  sessions.open("used");
  const fleet = new Fleet(await open("b", "known"), SILENT_JOURNAL, new Uint8Array(32).fill(1));
  await fleet.start(sessions, "b", () => ({}));
  expect(sessions.list().map(({ id }) => id)).toEqual(["behind", "used", "known"]);
  expect(sessions.find("behind")?.tokens).toEqual([
    { token: "one" },
    { token: "two" },
    { token: "three" },
  ]);
  expect(sessions.find("known")).toMatchObject({
    lastSeen: 1,
    tokens: [{ token: "one" }, { token: "two" }],
  });
  await fleet.close();
}, 30_000);

test("at most ten thousand tokens are kept, the newest ones", async () => {
  const first = await startFleet("many", "a");
  await first.fleet.hand("young", { token: "token" }, Date.now() / 1000 + 600);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    "INSERT INTO countersign_handed_tokens SELECT 'many', 'n' || n, 'x', n, 99999999999 FROM generate_series(1, 10050) AS n",
  );
  const store = await open("b", "many");
  expect(await store.keptTokens()).toHaveLength(10_000);
  await store.sweep();
  const { rows } = await client.query(
    "SELECT count(*)::int AS kept, min(handed_at)::int AS oldest FROM countersign_handed_tokens WHERE log = 'many'",
  );
  expect(rows).toEqual([{ kept: 10_000, oldest: 52 }]);
  await client.end();
  await store.close();
  await first.fleet.close();
}, 30_000);

test("a gateway that missed a handed token during an outage learns it afterwards", async () => {
  const log = "cut off";
  const store = await open("b", log);
  const [first, sessions] = [await startFleet(log, "a"), new Sessions({ now: () => 1 })];
  let isCut = false;
  const fleet = new Fleet(
    {
      ...store,
      ordersAfter: (serial) =>
        isCut ? Promise.reject(new Error("cut")) : store.ordersAfter(serial),
    },
    SILENT_JOURNAL,
    new Uint8Array(32).fill(1),
  );
  await fleet.start(sessions, "b", () => ({}));
  isCut = true;
  await expect(
    first.fleet.hand("s1", { token: "one" }, Date.now() / 1000 + 600),
  ).rejects.toMatchObject({
    code: "ERR_FLEET_SILENT",
  });
  await age(61_000);
  await store.sweep();
  isCut = false;
  await expect
    .poll(() => sessions.find("s1")?.tokens, { timeout: 5000 })
    .toEqual([{ token: "one" }]);
  await fleet.close();
  await first.fleet.close();
}, 30_000);

/** Opens one run in a session. */
function openRun(sessions: Sessions, session: string, runId: string): void {
  const facts = { runId, threadId: "t", principal: "alice", client: {}, agent: "support" } as const;
  const run = { ...facts, transport: "sse", startedAt: 1 } as const;
  sessions.addRun(session, new OpenRunHandle(run, { abort: () => {} }));
}

test("a gateway that executes an order after the sender's timeout signs for the ended run under the operator's name", async () => {
  const log = "stalled";
  const store = await open("b", log);
  const [first, sessions] = [await startFleet(log, "a"), new Sessions({ now: () => 1 })];
  const signed: unknown[] = [];
  let isStalled = false;
  const fleet = new Fleet(
    { ...store, ordersAfter: async (serial) => (isStalled ? [] : store.ordersAfter(serial)) },
    SILENT_JOURNAL,
    new Uint8Array(32).fill(1),
  );
  fleet.signWith(async (operator, stopped) => {
    signed.push([operator, stopped]);
    return true;
  });
  openRun(sessions, "s", "r");
  await fleet.start(sessions, "b", () => ({}));
  isStalled = true;
  await expect(first.fleet.stopFor("admin-1a2b3c4d", { session: "s" })).rejects.toMatchObject({
    code: "ERR_FLEET_SILENT",
  });
  isStalled = false;
  const run = { session: "s", run: "r", thread: "t", agent: "support", client: {} };
  await expect.poll(() => signed, { timeout: 5000 }).toEqual([["admin-1a2b3c4d", [run]]]);
  await fleet.close();
  await first.fleet.close();
}, 30_000);

test("an answer says whether its gateway signs for the run; a person's own stop gets no receipt", async () => {
  const log = "signing";
  const [first, second] = [await startFleet(log, "a"), await startFleet(log, "b")];
  const signed: string[] = [];
  let outcome: () => Promise<boolean> = () => Promise.resolve(true);
  second.fleet.signWith((operator, stopped) => {
    signed.push(...stopped.map(({ run }) => `${operator} ${run}`));
    return outcome();
  });
  const stop = async (run: string): Promise<true | undefined> => {
    openRun(second.sessions, "s", run);
    const { answers, isPartial } = await first.fleet.stopFor("admin-1", { session: "s", run });
    expect([answers[0]?.stopped[0]?.run, isPartial]).toEqual([run, false]);
    return answers[0]?.signs;
  };
  expect(await stop("r1")).toBe(true);
  outcome = () => Promise.resolve(false);
  expect(await stop("r2")).toBeUndefined();
  outcome = () => Promise.reject(new TypeError("a bug"));
  expect(await stop("r3")).toBeUndefined();
  // The gateway answers although the log does not: the receipts are on their way to it.
  outcome = () => new Promise(() => {});
  expect(await stop("r4")).toBe(true);
  openRun(second.sessions, "s", "r5");
  await first.fleet.stop({ session: "s", run: "r5", principal: "alice" });
  expect(signed).toEqual(["r1", "r2", "r3", "r4"].map((run) => `admin-1 ${run}`));
  // One gateway that does not read orders, and one that had a run of the session.
  const dead = await open("c", log);
  await dead.beat({ facts: {}, changed: [], gone: [] });
  openRun(second.sessions, "s", "r6");
  expect(await first.fleet.stopFor("admin-1", { session: "s" })).toMatchObject({
    answers: [{ gateway: "b", stopped: [{ run: "r6" }] }],
    isPartial: true,
  });
  await dead.close();
  for (const { fleet } of [first, second]) await fleet.close();
}, 30_000);
