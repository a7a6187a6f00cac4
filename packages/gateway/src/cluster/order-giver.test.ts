import { expect, test } from "vitest";
import { createTicketSeal } from "../access/ticket-seal.js";
import type { FleetOrder } from "../sessions/orders.js";
import { readOperator, sealOperator, UNKNOWN_OPERATOR } from "./order-operator.js";

const seal = createTicketSeal(new Uint8Array(32).fill(1));
const stop = { session: "s\u0000", run: "r" };
const by = sealOperator(seal, "order-1", stop, "admin-1a2b3c4d");

/** The order as the table returns it. */
const kept = (order: object): FleetOrder =>
  JSON.parse(JSON.stringify({ kind: "stop", ...order })) as FleetOrder;

test("the gateway that executes an order knows its operator, and no row contains the name", () => {
  expect(readOperator(seal, "order-1", kept({ stop, by }))).toBe("admin-1a2b3c4d");
  expect(JSON.stringify(kept({ stop, by }))).not.toContain("admin");
});

test("a sealed operator is valid for one order; for any other, and from an older gateway, the operator is unknown", () => {
  const forged = sealOperator(createTicketSeal(), "order-1", stop, "admin-1a2b3c4d");
  for (const [id, order] of [
    ["order-2", { stop, by }],
    ["order-1", { stop: { session: stop.session }, by }],
    ["order-1", { stop: { ...stop, run: "another" }, by }],
    ["order-1", { stop, by: forged }],
    ["order-1", { stop, by: seal.seal({ session: "s", token: "t" }) }],
    ["order-1", { stop, by: 7 }],
    ["order-1", { stop }],
  ] as const) {
    expect(readOperator(seal, id, kept(order))).toBe(UNKNOWN_OPERATOR);
  }
});

test("a person's own stop, and an order that stops no run, have no operator", () => {
  const own = { stop: { ...stop, principal: "alice" } };
  expect(readOperator(seal, "order-1", kept(own))).toBeUndefined();
  expect(readOperator(seal, "order-1", { kind: "hand", sealed: "x" })).toBeUndefined();
});
