import { expect, test } from "vitest";
import { WithheldRegister } from "./withheld-register.js";
import { withheldOf, withheldRows } from "../outbound/withhold/withheld-rows.js";

const WHY = { rule: "r", reason: "because" };

test("a withheld unit is written once, and again after a failed write; a step never is", () => {
  const register = new WithheldRegister();
  expect(register.take()).toBeUndefined();
  register.add("call:1", WHY);
  register.add("call:1", { rule: "other", reason: "later" });
  register.add("step::s", WHY);
  const taken = register.take();
  expect([...(taken ?? [])]).toEqual([["call:1", WHY]]);
  expect(register.take()).toBeUndefined();
  register.add("call:2", WHY);
  if (taken !== undefined) register.putBack(taken);
  expect([...(register.take()?.keys() ?? [])]).toEqual(["call:1", "call:2"]);
});

test("a unit from the ledger is withheld and not written again; the first reason stays", () => {
  const register = new WithheldRegister();
  register.add("call:1", WHY);
  register.take();
  register.load([
    ["call:1", { rule: "other", reason: "later" }],
    ["call:2", WHY],
  ]);
  expect(register.find("call:1")).toEqual(WHY);
  expect(register.find("call:2")).toEqual(WHY);
  expect(register.take()).toBeUndefined();
});

test("rows belong to their owner, whatever owners and units are called", () => {
  const names = ["", "a", '["a"', "a\u0000b", "message:1\n", "__proto__"];
  for (const owner of names) {
    const units = new Map(names.map((name) => [name, WHY]));
    const rows = withheldRows(owner, units);
    expect(withheldOf(rows, owner)).toEqual([...units]);
    const others = names.filter((name) => name !== owner);
    expect(others.flatMap((other) => withheldOf(rows, other))).toEqual([]);
  }
});
