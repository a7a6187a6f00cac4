import { expect, test } from "vitest";
import { createStreamNames } from "./stream-names.js";

const KEY = new Uint8Array(32).fill(7);

test("gateways with one key know each other's names, and no name is made twice", () => {
  const [one, other] = [createStreamNames(KEY), createStreamNames(KEY)];
  const name = one.create();
  expect(name).toMatch(/^[\w-]{32}$/u);
  expect(other.isOwn(name)).toBe(true);
  expect(new Set(Array.from({ length: 1000 }, () => one.create())).size).toBe(1000);
});

test("a name that is forged, altered or made with another key belongs to no gateway", () => {
  const names = createStreamNames(KEY);
  const name = names.create();
  for (let at = 0; at < name.length; at += 1) {
    const letter = name[at] === "A" ? "B" : "A";
    expect(names.isOwn(name.slice(0, at) + letter + name.slice(at + 1))).toBe(false);
  }
  const foreign = createStreamNames(new Uint8Array(32).fill(8)).create();
  for (const other of [foreign, "", name.slice(1), `${name}A`, `${name.slice(1)}=`]) {
    expect(names.isOwn(other)).toBe(false);
  }
});
