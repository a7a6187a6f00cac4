import { CountersignError } from "@countersign/core";
import { createFakeClock } from "@countersign/testkit";
import type { FakeClock } from "@countersign/testkit";
import { expect, test, vi } from "vitest";
import type { KeyedStore } from "../store/keyed-store.js";
import "../base/errors.js";
import { createMemoryStore } from "../store/memory-store.js";
import { ANONYMOUS } from "../access/access.js";
import { OWNER_TRUST_MS, SessionOwners } from "./session-owners.js";

const [alice, bob] = [{ id: "alice" }, { id: "bob" }];
const FOREIGN = { code: "ERR_ACCESS_SESSION" };

/** Creates gateways on one store, whose queries are counted. */
function open(clock: FakeClock = createFakeClock()): {
  store: KeyedStore;
  gateway(limits?: { total?: number; each?: number }): SessionOwners;
} {
  const store = createMemoryStore(clock);
  vi.spyOn(store, "claim");
  vi.spyOn(store, "write");
  return {
    store,
    gateway: (limits = {}) => new SessionOwners({ clock, store, limits }),
  };
}

test("a session belongs to its first user at every gateway, and after a restart", async () => {
  const { gateway } = open();
  const [one, other] = [gateway(), gateway()];
  await one.claim("s", alice);
  await expect(other.claim("s", bob)).rejects.toMatchObject(FOREIGN);
  await expect(other.claim("s", ANONYMOUS)).rejects.toMatchObject(FOREIGN);
  await other.claim("s", alice);
  expect(() => other.check("s", bob)).toThrow(/belongs to another principal/);
  await expect(gateway().claim("s", bob)).rejects.toMatchObject(FOREIGN);
});

test("of many concurrent claims at different gateways one gets the session", async () => {
  const { gateway } = open();
  const tries = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => gateway().claim("s", { id: `p${index}` })),
  );
  expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a session without a principal has no owner, and can be claimed later", async () => {
  const { gateway } = open();
  await gateway().claim("free", ANONYMOUS);
  await gateway().claim("free", bob);
  await expect(gateway().claim("free", ANONYMOUS)).rejects.toMatchObject(FOREIGN);
});

test("a session in constant use costs one store query an hour, which also refreshes its age", async () => {
  const clock = createFakeClock();
  const { store, gateway } = open(clock);
  const owners = gateway();
  for (let count = 0; count < 5; count++) await owners.claim("s", alice);
  expect(store.claim).toHaveBeenCalledTimes(1);
  clock.advance(OWNER_TRUST_MS);
  await owners.claim("s", alice);
  await owners.claim("s", alice);
  expect(store.claim).toHaveBeenCalledTimes(2);
  expect(store.write).toHaveBeenCalledTimes(1);
  // The refreshed session is not removed for its age.
  await store.forget(clock.now());
  await expect(gateway().claim("s", bob)).rejects.toMatchObject(FOREIGN);
});

test("an id that the gateway generated costs no store query until a client names it", async () => {
  const { store, gateway } = open();
  const owners = gateway();
  owners.rememberOwn("minted", alice);
  expect(() => owners.rememberOwn("minted", bob)).toThrow(/belongs to another principal/);
  await expect(owners.claim("minted", bob)).rejects.toMatchObject(FOREIGN);
  expect(store.claim).not.toHaveBeenCalled();
  await owners.claim("minted", alice);
  await expect(gateway().claim("minted", bob)).rejects.toMatchObject(FOREIGN);
});

test("a principal with many sessions evicts its own from the cache, and an evicted one is queried again", async () => {
  const { store, gateway } = open();
  const owners = gateway({ total: 5, each: 2 });
  await owners.claim("s1", alice);
  for (let index = 0; index < 10; index++) await owners.claim(`b${index}`, bob);
  vi.mocked(store.claim).mockClear();
  expect(() => owners.check("s1", bob)).toThrow(/belongs to another principal/);
  await owners.claim("s1", alice);
  expect(store.claim).not.toHaveBeenCalled();
  owners.check("b0", alice);
  await expect(owners.claim("b0", alice)).rejects.toMatchObject(FOREIGN);
  for (let index = 0; index < 5; index++) await owners.claim(`c${index}`, { id: `c${index}` });
  owners.check("s1", bob);
  await expect(owners.claim("s1", bob)).rejects.toMatchObject(FOREIGN);
});

test("while the store is down only sessions known to be the principal's are accepted", async () => {
  const clock = createFakeClock();
  const store = createMemoryStore(clock);
  const owners = new SessionOwners({ clock, store });
  await owners.claim("known", alice);
  const failure = new CountersignError("ERR_LEDGER_UNAVAILABLE", "down", {});
  vi.spyOn(store, "claim").mockRejectedValue(failure);
  await owners.claim("known", alice);
  await expect(owners.claim("new", alice)).rejects.toBe(failure);
});
