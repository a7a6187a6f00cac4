import { expect, test } from "vitest";
import { createTicketSeal } from "../access/ticket-seal.js";
import type { FleetOrder } from "../sessions/order.js";
import { readGiver, sealGiver, UNKNOWN_OPERATOR } from "./order-giver.js";

const seal = createTicketSeal(new Uint8Array(32).fill(1));
const stop = { session: "s\u0000", run: "r" };
const by = sealGiver(seal, "order-1", stop, "admin-1a2b3c4d");

/** As it comes out of the table. */
const kept = (order: object): FleetOrder =>
  JSON.parse(JSON.stringify({ kind: "stop", ...order })) as FleetOrder;

test("the operator of an order is known where it is obeyed, and in no row", () => {
  expect(readGiver(seal, "order-1", kept({ stop, by }))).toBe("admin-1a2b3c4d");
  expect(JSON.stringify(kept({ stop, by }))).not.toContain("admin");
});

test("the name of an operator is good for one order; any other, and that of an older gateway, is nobody's", () => {
  const forged = sealGiver(createTicketSeal(), "order-1", stop, "admin-1a2b3c4d");
  for (const [id, order] of [
    ["order-2", { stop, by }],
    ["order-1", { stop: { session: stop.session }, by }],
    ["order-1", { stop: { ...stop, run: "another" }, by }],
    ["order-1", { stop, by: forged }],
    ["order-1", { stop, by: seal.seal({ session: "s", token: "t" }) }],
    ["order-1", { stop, by: 7 }],
    ["order-1", { stop }],
  ] as const) {
    expect(readGiver(seal, id, kept(order))).toBe(UNKNOWN_OPERATOR);
  }
});

test("a person's own stop, and an order that ends no run, are no operator's", () => {
  const own = { stop: { ...stop, principal: "alice" } };
  expect(readGiver(seal, "order-1", kept(own))).toBeUndefined();
  expect(readGiver(seal, "order-1", { kind: "hand", sealed: "x" })).toBeUndefined();
});
