import { CountersignError, sha256Hex } from "@countersign/core";
import { createFakeClock } from "@countersign/testkit";
import type { FakeClock } from "@countersign/testkit";
import { expect, test, vi } from "vitest";
import type { KeyedStore } from "../store/keyed-store.js";
import { createMemoryStore } from "../store/memory-store.js";
import { rowsOf } from "../testing/keyed-store-contract.js";
import type { Access, Grant } from "./access.js";
import "../base/errors.js";
import { createTicketSeal, deriveSealKey, MAX_TICKET_LENGTH } from "./ticket-seal.js";
import { TICKET_KEEP_MS, TICKET_LIFE_MS, TICKET_SKEW_MS, Tickets } from "./tickets.js";
import type { TicketOptions } from "./tickets.js";

const PURPOSE = { sessionId: "s", agent: "a" };
const KEY = deriveSealKey("a private key", "tickets");
const USED = JSON.stringify(["", "", "tickets"]);

/** Restores every principal except those in the set. */
function createPeople(): { access: Pick<Access, "restore">; gone: Set<string> } {
  const gone = new Set<string>();
  const restore: NonNullable<Access["restore"]> = ({ way, principal }) =>
    way === "test" ? grant(principal, () => !gone.has(principal)) : undefined;
  return { access: { restore }, gone };
}
const grant = (id: string, isValid: () => boolean = () => true): Grant => ({
  principal: { id },
  name: { way: "test", principal: id },
  isValid,
});

type Options = Partial<TicketOptions> & { clock?: FakeClock };
const open = ({ clock = createFakeClock(), ...rest }: Options = {}): Tickets =>
  new Tickets({ clock, store: createMemoryStore(clock), ...createPeople(), key: KEY, ...rest });
const refused = async (redeemed: Promise<Grant>): Promise<void> =>
  expect(redeemed).rejects.toMatchObject({ code: "ERR_ACCESS_TOKEN", facts: { reason: "ticket" } });

test("a ticket opens its stream once, for its own session and agent only", async () => {
  const tickets = open();
  const { ticket } = tickets.issue(grant("alice"), PURPOSE);
  expect((await tickets.redeem(ticket, PURPOSE)).principal.id).toBe("alice");
  await refused(tickets.redeem(ticket, PURPOSE));
  for (const other of [
    { ...PURPOSE, sessionId: "t" },
    { ...PURPOSE, agent: "b" },
  ]) {
    const second = tickets.issue(grant("alice"), PURPOSE).ticket;
    await refused(tickets.redeem(second, other));
    // A failed attempt uses it up.
    await refused(tickets.redeem(second, PURPOSE));
  }
});

test("a ticket is valid for 30 seconds, and no longer than its grant", async () => {
  const clock = createFakeClock();
  const { access, gone } = createPeople();
  const tickets = open({ clock, access });
  const [first, second, third] = ["a", "b", "c"].map(
    (id) => tickets.issue(grant(id), PURPOSE).ticket,
  ) as [string, string, string];
  clock.advance(TICKET_LIFE_MS - 1);
  expect((await tickets.redeem(first, PURPOSE)).principal.id).toBe("a");
  gone.add("c");
  await refused(tickets.redeem(third, PURPOSE));
  clock.advance(1);
  await refused(tickets.redeem(second, PURPOSE));
});

test("tickets are limited per principal and in total, and expiry and use free a place", async () => {
  const clock = createFakeClock();
  const tickets = open({ clock, limits: { total: 3, each: 2 } });
  const { ticket } = tickets.issue(grant("a"), PURPOSE);
  tickets.issue(grant("a"), PURPOSE);
  expect(() => tickets.issue(grant("a"), PURPOSE)).toThrow(/too many/);
  await tickets.redeem(ticket, PURPOSE);
  tickets.issue(grant("a"), PURPOSE);
  tickets.issue(grant("b"), PURPOSE);
  expect(() => tickets.issue(grant("c"), PURPOSE)).toThrow(/too many/);
  clock.advance(TICKET_LIFE_MS);
  tickets.issue(grant("c"), PURPOSE);
});

test("gateways with one key and one store accept each other's tickets, and one of any number of attempts wins", async () => {
  const clock = createFakeClock();
  const store = createMemoryStore(clock);
  const [one, other, third] = [
    open({ clock, store }),
    open({ clock, store }),
    open({ clock, store }),
  ];
  const { ticket } = one.issue(grant("alice"), PURPOSE);
  const tries = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) =>
      ([one, other, third][index % 3] as Tickets).redeem(ticket, PURPOSE),
    ),
  );
  expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("only the hash of a ticket is stored, and its text reveals nothing", async () => {
  const clock = createFakeClock();
  const store = createMemoryStore(clock);
  const tickets = open({ clock, store });
  const { ticket } = tickets.issue(grant("alice"), { sessionId: "my-session", agent: "a" });
  expect(Buffer.from(ticket, "base64url").toString("latin1")).not.toMatch(/alice|my-session/);
  await refused(tickets.redeem(ticket, PURPOSE));
  expect(await rowsOf(store, USED)).toEqual([
    { kind: "ticket", id: sha256Hex(ticket), value: { at: clock.now() } },
  ]);
});

test("a ticket that is forged, changed, truncated, too long or under another key never reaches the store", async () => {
  const clock = createFakeClock();
  const claim = vi.fn<KeyedStore["claim"]>();
  const tickets = open({ clock, store: { ...createMemoryStore(clock), claim } });
  const { ticket } = tickets.issue(grant("alice"), PURPOSE);
  const changed = `${ticket.slice(0, 30)}${ticket[30] === "A" ? "B" : "A"}${ticket.slice(31)}`;
  const foreign = open({ clock, key: deriveSealKey("another", "tickets") }).issue(
    grant("alice"),
    PURPOSE,
  );
  for (const text of [
    "",
    "A",
    "A".repeat(20),
    "A".repeat(MAX_TICKET_LENGTH + 1),
    `${ticket}=`,
    ticket.slice(0, -1),
    ticket.slice(4),
    changed,
    foreign.ticket,
    createTicketSeal(KEY).seal({}),
    createTicketSeal(KEY).seal({ grant: "x", purpose: "y", expiresAt: clock.now() + 1 }),
  ]) {
    await refused(tickets.redeem(text, PURPOSE));
  }
  expect(claim).not.toHaveBeenCalled();
});

test("a grant that this gateway cannot restore, or one without a name, opens nothing", async () => {
  const clock = createFakeClock();
  const store = createMemoryStore(clock);
  const one = open({ clock, store });
  for (const access of [{}, { restore: () => undefined }]) {
    const other = open({ clock, store, access });
    await refused(other.redeem(one.issue(grant("alice"), PURPOSE).ticket, PURPOSE));
  }
  const nameless = { principal: { id: "alice" }, isValid: () => true };
  expect(() => one.issue(nameless, PURPOSE)).toThrow(/ticket/);
});

test("while the store is down every ticket is rejected with the store's own code", async () => {
  const clock = createFakeClock();
  const store: KeyedStore = {
    ...createMemoryStore(clock),
    claim: async () => {
      throw new CountersignError("ERR_LEDGER_UNAVAILABLE", "down", {});
    },
  };
  const tickets = open({ clock, store });
  const { ticket } = tickets.issue(grant("alice"), PURPOSE);
  await expect(tickets.redeem(ticket, PURPOSE)).rejects.toMatchObject({
    code: "ERR_LEDGER_UNAVAILABLE",
  });
});

test("clocks of gateways may differ, but a ticket from far ahead is rejected", async () => {
  const [ahead, behind] = [createFakeClock(), createFakeClock()];
  const store = createMemoryStore(behind);
  const [one, other] = [open({ clock: ahead, store }), open({ clock: behind, store })];
  ahead.advance(TICKET_SKEW_MS);
  const near = one.issue(grant("a"), PURPOSE).ticket;
  expect((await other.redeem(near, PURPOSE)).principal.id).toBe("a");
  ahead.advance(1);
  await refused(other.redeem(one.issue(grant("a"), PURPOSE).ticket, PURPOSE));
});

test("used tickets do not pile up: a later redemption removes the old ones, also those of another gateway", async () => {
  const clock = createFakeClock();
  const store = createMemoryStore(clock);
  const use = async (tickets: Tickets): Promise<string> => {
    const { ticket } = tickets.issue(grant("a"), PURPOSE);
    await tickets.redeem(ticket, PURPOSE);
    return ticket;
  };
  const [one, other] = [open({ clock, store }), open({ clock, store })];
  for (let count = 0; count < 90; count++) await use(one);
  clock.advance(TICKET_KEEP_MS);
  const recent = await use(other);
  expect(await rowsOf(store, USED)).toHaveLength(91);
  await refused(one.redeem(recent, PURPOSE));
  clock.advance(TICKET_KEEP_MS);
  await use(other);
  await vi.waitFor(async () => expect(await rowsOf(store, USED)).toHaveLength(2));
});
